//! Address operands.

use super::declare::Operand;
use super::registers::{LANES, Registers};
use super::word::Read;
use crate::engine::slot::Slot;

/// An address: a base in a register or constant, and a constant offset. The third word says what is accessed and how; it
/// belongs to the access path.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Address {
    base: u32,
    offset: u32,
    pub access: u32,
}

// SAFETY: three words.
unsafe impl Operand for Address {
    const SLOT: Slot = Slot::Address;
}

impl Address {
    /// The third word, lowest bit: the base has 64 bits, else 32.
    pub const WIDE: u32 = 1;

    /// An address whose base is this word.
    pub fn new(base: u32, offset: u32, access: u32) -> Address {
        Address {
            base,
            offset,
            access,
        }
    }

    /// The three words.
    pub fn words(self) -> [u32; 3] {
        [self.base, self.offset, self.access]
    }

    /// The addresses of the lanes.
    #[inline(always)]
    pub fn lanes(self, warp: &impl Registers) -> [u64; LANES] {
        let offset = i64::from(self.offset as i32) as u64;
        if self.access & Address::WIDE != 0 {
            let base = Read::<u64>::from_word(self.base).lanes(warp);
            std::array::from_fn(|lane| base[lane].wrapping_add(offset))
        } else {
            let base = Read::<u32>::from_word(self.base).lanes(warp);
            std::array::from_fn(|lane| u64::from(base[lane].wrapping_add(offset as u32)))
        }
    }
}
