//! Which bytes of shared memory are initialised: one bit for each.

/// The initialised bytes of a cluster's shared memory.
#[derive(Debug)]
pub(super) struct Validity {
    bits: Vec<u64>,
}

impl Validity {
    pub fn new(bytes: u32) -> Validity {
        Validity {
            bits: vec![0; bytes.div_ceil(64) as usize + 1],
        }
    }

    /// No byte is initialised any more.
    pub fn clear(&mut self) {
        self.bits.fill(0);
    }

    /// Marks bytes as initialised.
    #[inline]
    pub fn initialise(&mut self, offset: u32, size: u32) {
        let (word, shift) = ((offset / 64) as usize, offset % 64);
        let mask = u128::from(ones(size)) << shift;
        self.bits[word] |= mask as u64;
        self.bits[word + 1] |= (mask >> 64) as u64;
    }

    /// The first unit (a word, or the whole of a narrower access) none of whose bytes is initialised. A word that is in part
    /// passes: compilers copy padding.
    #[inline]
    pub fn first_uninitialised(&self, offset: u32, size: u32) -> Option<u32> {
        let (word, shift) = ((offset / 64) as usize, offset % 64);
        let both = u128::from(self.bits[word]) | u128::from(self.bits[word + 1]) << 64;
        let initialised = (both >> shift) as u64 & ones(size);
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

fn ones(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}
