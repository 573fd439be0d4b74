//! The object of an mbarrier.
//!
//! It is 64 bits: pending arrivals (bits 0 to 19), arrivals expected in each phase (20 to 39), outstanding bytes plus
//! 2^20 (40 to 61), a mark of initialisation (62), the parity of the current phase (63). A state token is the object as
//! it was before the arrival.

/// The largest count of arrivals, and the bits of one.
pub(crate) const COUNT: u64 = (1 << 20) - 1;
const INITIALISED: u64 = 1 << 62;
const NO_BYTES: u64 = 1 << 20;
const BYTES: u64 = (1 << 22) - 1;

/// A barrier object, unpacked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    /// Arrivals that the phase still waits for.
    pub pending: u64,
    /// Arrivals of each phase.
    pub expected: u64,
    /// Bytes that the phase still waits for; below zero where they came before they were expected.
    pub bytes: i64,
    /// The parity of the current phase.
    pub parity: bool,
}

impl Object {
    /// The object that a word holds; `None` if it is not initialised.
    pub fn unpack(bits: u64) -> Option<Object> {
        if bits & INITIALISED == 0 {
            return None;
        }
        Some(Object {
            pending: bits & COUNT,
            expected: bits >> 20 & COUNT,
            bytes: (bits >> 40 & BYTES) as i64 - NO_BYTES as i64,
            parity: bits >> 63 != 0,
        })
    }

    /// The word.
    pub fn pack(self) -> u64 {
        let bytes = (self.bytes + NO_BYTES as i64) as u64 & BYTES;
        self.pending
            | self.expected << 20
            | bytes << 40
            | INITIALISED
            | u64::from(self.parity) << 63
    }

    /// The word, after the phase has ended if nothing is outstanding.
    pub fn settled(mut self) -> u64 {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.parity = !self.parity;
        }
        self.pack()
    }
}
