//! The PTX front end: lexer, parser and syntax tree, for whole modules as LLVM and nvcc write them.
//!
//! The tree keeps instructions generic (opcode, modifiers, operands): what an instruction means, and whether it exists,
//! is known to [`crate::engine`] alone, so that the parser never has to guess.

pub mod ast;
mod constant;
mod declaration;
mod function;
mod lexer;
mod parser;

pub use parser::parse;

/// A syntax error: where, and what was found and expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Error {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, counted in bytes.
    pub column: u32,
    /// What was wrong.
    pub message: String,
}

impl Error {
    /// An error at a place.
    pub fn new(at: ast::Position, message: impl Into<String>) -> Error {
        Error {
            line: at.line,
            column: at.column,
            message: message.into(),
        }
    }
}

/// Result of the front end.
pub type Result<T> = std::result::Result<T, Error>;
