//! Where in shared memory there are mbarriers.
//!
//! From `mbarrier.init` to `mbarrier.inval` nothing but the operations of mbarriers may touch an object; another `mbarrier.init`
//! may not, either (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"). What the hardware keeps in
//! those bytes is its own affair, so a write makes of the barrier whatever it likes. Objects end with their cluster.

use std::collections::HashMap;
use std::ops::Range;

use super::access::ThreadAccess;

/// The bytes of an mbarrier, which are aligned to as many.
pub(super) const MBARRIER_BYTES: u32 = 8;

/// The initialised mbarriers of a cluster.
#[derive(Debug)]
pub(super) struct Mbarriers {
    /// A bit for each aligned place: whether there is one.
    bits: Vec<u64>,
    /// Who has initialised it, by its offset.
    initialised: HashMap<u32, ThreadAccess>,
    /// Outside of these offsets there has been none since the cluster started.
    bounds: Range<u32>,
}

/// An initialised mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mbarrier {
    /// Its first byte.
    pub offset: u32,
    /// Who has initialised it.
    pub by: ThreadAccess,
}

impl Mbarriers {
    /// For so many bytes, without an mbarrier.
    pub fn new(bytes: u32) -> Mbarriers {
        Mbarriers {
            bits: vec![0; bytes.div_ceil(MBARRIER_BYTES * u64::BITS) as usize],
            initialised: HashMap::new(),
            bounds: 0..0,
        }
    }

    /// A new cluster begins.
    pub fn start(&mut self) {
        if !self.bounds.is_empty() {
            self.bits.fill(0);
            self.initialised.clear();
            self.bounds = 0..0;
        }
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.initialised.is_empty()
    }

    /// There is one from now on.
    pub fn initialise(&mut self, mbarrier: Mbarrier) {
        let Mbarrier { offset, by } = mbarrier;
        let place = offset / MBARRIER_BYTES;
        self.bits[(place / u64::BITS) as usize] |= 1 << (place % u64::BITS);
        self.initialised.insert(offset, by);
        let own = offset..offset + MBARRIER_BYTES;
        self.bounds = match self.bounds.is_empty() {
            true => own,
            false => self.bounds.start.min(own.start)..self.bounds.end.max(own.end),
        };
    }

    /// There is none any more.
    pub fn invalidate(&mut self, offset: u32) {
        let place = offset / MBARRIER_BYTES;
        self.bits[(place / u64::BITS) as usize] &= !(1 << (place % u64::BITS));
        self.initialised.remove(&offset);
    }

    /// The first one that has some of these bytes.
    #[inline]
    pub fn first_in(&self, offset: u32, bytes: u32) -> Option<Mbarrier> {
        let start = offset.max(self.bounds.start);
        let end = (offset + bytes).min(self.bounds.end);
        if start >= end {
            return None;
        }
        let mut places = start / MBARRIER_BYTES..end.div_ceil(MBARRIER_BYTES);
        let found = places.find(|place| {
            self.bits[(place / u64::BITS) as usize] >> (place % u64::BITS) & 1 != 0
        })?;
        let offset = found * MBARRIER_BYTES;
        self.initialised
            .get(&offset)
            .map(|&by| Mbarrier { offset, by })
    }
}
