//! The PTX front end: lexer, parser and syntax tree, for whole modules as LLVM and nvcc write them.
//!
//! The tree keeps instructions generic (opcode, modifiers, operands): what an instruction means, and whether it exists,
//! is known to [`crate::engine`] alone, so that the parser never has to guess.

pub mod ast;
mod constant;
mod debug;
mod declaration;
mod error;
mod function;
mod head;
pub(crate) mod initializers;
mod lexer;
pub(crate) mod link;
mod module;
mod names;
mod number;
mod parser;
mod rules;

pub use error::{Error, Result};
pub use module::parse;
