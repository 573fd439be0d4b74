//! Which bytes of shared memory are initialised: one bit for each.

use super::access::Access;
use super::pattern::{Pattern, RUN_LANES, RunPattern};

/// The initialised bytes of a cluster's shared memory.
#[derive(Debug)]
pub(super) struct Validity {
    bits: Vec<u8>,
}

/// Bytes that one step marks or tests at most.
const STEP: u32 = 32;

impl Validity {
    pub fn new(bytes: u32) -> Validity {
        // A step works on eight bytes of bits from that of its first one.
        Validity {
            bits: vec![0; bytes.div_ceil(8) as usize + 8],
        }
    }

    /// No byte is initialised any more.
    pub fn clear(&mut self) {
        self.bits.fill(0);
    }

    /// The bits from a byte on, at least 57.
    #[inline(always)]
    fn from(&self, offset: u32) -> u64 {
        let first = (offset / 8) as usize;
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.bits[first..first + 8]);
        u64::from_le_bytes(bytes) >> (offset % 8)
    }

    /// Marks up to 32 bytes as initialised.
    #[inline(always)]
    pub fn initialise(&mut self, offset: u32, size: u32) {
        let first = (offset / 8) as usize;
        let place = &mut self.bits[first..first + 8];
        let mut bytes = [0; 8];
        bytes.copy_from_slice(place);
        let marked = u64::from_le_bytes(bytes) | ones(size) << (offset % 8);
        place.copy_from_slice(&marked.to_le_bytes());
    }

    /// Whether up to 32 bytes are initialised.
    #[inline(always)]
    fn is_initialised(&self, offset: u32, size: u32) -> bool {
        !self.from(offset) & ones(size) == 0
    }

    /// Marks the bytes of all lanes as initialised.
    #[inline]
    pub fn initialise_all(&mut self, access: &Access<'_>, pattern: Pattern) {
        pieces(access, pattern, |offset, size| {
            self.initialise(offset, size);
        });
    }

    /// Whether all bytes of all lanes are initialised.
    #[inline]
    pub fn covers(&self, access: &Access<'_>, pattern: Pattern) -> bool {
        let mut covers = true;
        pieces(access, pattern, |offset, size| {
            covers &= self.is_initialised(offset, size);
        });
        covers
    }

    /// The first uninitialised unit of any number of bytes.
    pub fn first_uninitialised_of(&self, offset: u32, bytes: u32) -> Option<u32> {
        (0..bytes)
            .step_by(STEP as usize)
            .find_map(|at| self.first_uninitialised(offset + at, (bytes - at).min(STEP)))
    }

    /// The first unit (a word, or the whole of a narrower access) none of whose bytes is initialised. A word that is in part
    /// passes: compilers copy padding.
    #[inline]
    pub fn first_uninitialised(&self, offset: u32, size: u32) -> Option<u32> {
        let initialised = self.from(offset) & ones(size);
        if initialised == ones(size) {
            return None;
        }
        let unit = size.clamp(1, 4);
        (0..size)
            .step_by(unit as usize)
            .find(|at| initialised >> at & ones(unit) == 0)
            .map(|at| offset + at)
    }
}

/// The bytes of all lanes, in pieces of up to 32.
#[inline(always)]
fn pieces(access: &Access<'_>, pattern: Pattern, mut each: impl FnMut(u32, u32)) {
    let size = access.size;
    let mut run = |start, lanes: usize| {
        // 8 or 32 lanes are a multiple of 8 bytes; most often they are a multiple of a step.
        let bytes = lanes as u32 * size;
        (0..bytes)
            .step_by(STEP as usize)
            .for_each(|at| each(start + at, (bytes - at).min(STEP)));
    };
    match pattern {
        Pattern::Consecutive => run(access.offsets[0], 32),
        Pattern::Same => run(access.offsets[0], 1),
        Pattern::Runs(runs) => {
            for (pattern, offsets) in runs.into_iter().zip(access.offsets.chunks_exact(RUN_LANES)) {
                match pattern {
                    RunPattern::Consecutive => run(offsets[0], RUN_LANES),
                    RunPattern::Same => run(offsets[0], 1),
                }
            }
        }
        Pattern::Scattered => {
            let mut rest = access.mask;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                each(access.offsets[lane], size);
            }
        }
    }
}

#[inline(always)]
fn ones(count: u32) -> u64 {
    (1 << count) - 1
}
