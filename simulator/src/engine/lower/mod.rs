//! Lowering: a parsed function becomes code for the interpreter.
//!
//! [`Builder`] keeps scopes of names and offers the instruction families (`isa`) what they need: typed operands
//! ([`operands`]), constants, temporaries, and [`Builder::emit`] ([`emit`]); [`statements`] walks a function with it.
//! Instructions refer to virtual registers until [`allocate`] has given them offsets in the frame.

pub(crate) mod accept;
mod acceptance;
mod allocate;
mod builder;
mod constants;
mod context;
mod emit;
mod field;
pub(crate) mod form;
pub(crate) mod lowerings;
mod module;
mod operands;
mod scope;
mod shared;
mod statements;
pub(crate) mod types;
pub(crate) mod variables;

pub(crate) use super::exec::operand::Width;
pub(crate) use builder::{Builder, Call, Control, Registers};
pub(crate) use field::{Field, Register};
pub(crate) use module::{is_runtime, load};
pub(crate) use operands::{AddressOperand, Base};
pub(crate) use scope::Symbol;
