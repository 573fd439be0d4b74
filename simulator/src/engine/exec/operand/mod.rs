//! Operands of decoded instructions.
//!
//! An instruction's operands are a struct of the types here, declared with [`operands!`](crate::engine::exec::operand::operands).
//! The struct serves twice. While a function is lowered its words name virtual registers and constants; register allocation
//! replaces them by offsets in the frame and in the constants. What each word is, and how wide, is in [`Operands::SLOTS`]: the
//! lowering checks every operand against it when it emits the instruction, so an operation can rely on the types it declares.

mod address;
mod declare;
mod encoded;
mod list;
mod registers;
mod shapes;
mod word;

pub(crate) use crate::engine::slot::{Slot, Value, Width};
pub(crate) use address::Address;
pub(crate) use declare::{Operand, Operands, operands};
pub(crate) use encoded::{Encode, Encoded};
pub(crate) use list::{Labels, ReadList, WriteList};
pub(crate) use registers::{CONSTANT, FULL, LANES, Registers, SINK, lanes_of};
pub(crate) use shapes::{Binary, BinaryWith, Quaternary, Ternary, TernaryWith, Unary, UnaryWith};
pub(crate) use word::{
    Call, Label, Read, ReadArea, ReadPredicate, Write, WriteArea, WriteOptional, WritePredicate,
    WritePredicateOptional,
};
