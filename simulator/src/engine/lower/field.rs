//! What lowered instructions name: virtual registers and constants, and the words that stand for them until allocation.

use super::types::Ty;
use crate::engine::exec::operand::{
    Read, ReadArea, ReadPredicate, SINK, Width, Write, WriteArea, WriteOptional, WritePredicate,
    WritePredicateOptional,
};

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Register(pub u32);

impl Width {
    /// The width of a register of this type.
    pub fn of(ty: Ty) -> Width {
        match ty.width() {
            1 => Width::Pred,
            8 | 16 => Width::W16,
            32 => Width::W32,
            64 => Width::W64,
            _ => Width::W128,
        }
    }
}

/// An operand of a lowered instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A register.
    Register(Register),
    /// A constant of the pool.
    Constant(Constant),
    /// `_`.
    Sink,
}

impl Field {
    /// The word of an operand that is this field, until allocation replaces it.
    pub(super) fn word(self) -> u32 {
        match self {
            Field::Register(register) => register.0,
            Field::Constant(constant) => CONSTANT_WORD | constant.number,
            Field::Sink => SINK,
        }
    }
}

/// A constant of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Constant {
    /// Its number.
    pub number: u32,
    /// Its offset in the pool.
    pub offset: u32,
}

/// Set in the word of a constant.
const CONSTANT_WORD: u32 = 1 << 31;

/// What an operand's word names before allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Register(Register),
    /// A constant: its number.
    Constant(u32),
    Sink,
}

impl Named {
    /// What the word names.
    pub fn of(word: u32) -> Named {
        match word {
            SINK => Named::Sink,
            word if word & CONSTANT_WORD != 0 => Named::Constant(word & !CONSTANT_WORD),
            word => Named::Register(Register(word)),
        }
    }
}

macro_rules! from_field {
    ($($name:ident $(<$t:ident>)?)*) => { $(impl $(<$t>)? From<Field> for $name $(<$t>)? {
        fn from(field: Field) -> Self { Self::from_word(field.word()) }
    })* };
}
from_field! {
    Read<T> Write<T> WriteOptional<T> ReadPredicate WritePredicate WritePredicateOptional ReadArea WriteArea
}
