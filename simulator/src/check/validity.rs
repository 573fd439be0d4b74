//! Which bytes of shared memory are initialised: one bit for each.

use super::access::Access;
use super::stamps::Pattern;

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

    /// Marks the bytes of all lanes as initialised.
    #[inline]
    pub fn initialise_all(&mut self, access: &Access<'_>, pattern: Pattern) {
        let (start, size) = (access.offsets[0], access.size);
        match pattern {
            Pattern::Consecutive => {
                // 32 lanes of whole bytes: half a word of bits for each byte of a lane.
                for part in 0..size {
                    self.initialise(start + part * 32, 32);
                }
            }
            Pattern::Same => self.initialise(start, size),
            Pattern::Scattered => {
                let mut rest = access.mask;
                while rest != 0 {
                    let lane = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    self.initialise(access.offsets[lane], size);
                }
            }
        }
    }

    /// Whether all bytes of all lanes are initialised.
    #[inline]
    pub fn covers(&self, access: &Access<'_>, pattern: Pattern) -> bool {
        let (start, size) = (access.offsets[0], access.size);
        match pattern {
            Pattern::Consecutive => (0..size).fold(true, |all, part| {
                all & self.is_initialised(start + part * 32, 32)
            }),
            Pattern::Same => self.is_initialised(start, size),
            Pattern::Scattered => {
                let (mut all, mut rest) = (true, access.mask);
                while rest != 0 {
                    let lane = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    all &= self.is_initialised(access.offsets[lane], size);
                }
                all
            }
        }
    }

    #[inline]
    fn is_initialised(&self, offset: u32, size: u32) -> bool {
        let (word, shift) = ((offset / 64) as usize, offset % 64);
        let both = u128::from(self.bits[word]) | u128::from(self.bits[word + 1]) << 64;
        !((both >> shift) as u64) & ones(size) == 0
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
