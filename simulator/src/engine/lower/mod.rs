//! Lowering: a parsed function becomes code for the interpreter.
//!
//! [`Builder`] walks the statements, keeps scopes of names, and offers the instruction families (`ops`) what they need: typed
//! operands, constants, temporaries, and [`Builder::emit`]. Instructions refer to virtual registers until [`allocate`] has
//! given them places in the frame.

pub(crate) mod accept;
mod allocate;
mod build;
pub(crate) mod modifiers;
mod module;
mod operands;
mod scope;
mod shared;
mod variables;

pub(crate) use build::{Builder, Call, Control, Field, Link, Register, Width};
pub(crate) use module::load;
pub(crate) use operands::{AddressOperand, Base, expect_operands};
pub(crate) use scope::Symbol;
