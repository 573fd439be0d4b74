//! Options of instructions, which are numbers among their operands.

use std::marker::PhantomData;

use super::declare::Operand;
use crate::engine::slot::Slot;

/// What an instruction says besides its registers, as a number in its operands.
pub(crate) trait Encode: Copy {
    /// The number.
    fn encode(self) -> u32;
    /// The value that [`Encode::encode`] made this number of.
    fn decode(word: u32) -> Self;
}

impl Encode for u8 {
    #[inline(always)]
    fn encode(self) -> u32 {
        self.into()
    }

    #[inline(always)]
    fn decode(word: u32) -> u8 {
        word as u8
    }
}

impl Encode for bool {
    #[inline(always)]
    fn encode(self) -> u32 {
        self.into()
    }

    #[inline(always)]
    fn decode(word: u32) -> bool {
        word != 0
    }
}

/// An option of an instruction.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Encoded<T> {
    word: u32,
    ty: PhantomData<T>,
}

// SAFETY: one word, and nothing of `PhantomData`.
unsafe impl<T: Encode> Operand for Encoded<T> {
    const SLOT: Slot = Slot::Number;
}

impl<T: Encode> Encoded<T> {
    /// The value.
    #[inline(always)]
    pub fn get(self) -> T {
        T::decode(self.word)
    }
}

impl<T: Encode> From<T> for Encoded<T> {
    fn from(value: T) -> Self {
        Encoded {
            word: value.encode(),
            ty: PhantomData,
        }
    }
}
