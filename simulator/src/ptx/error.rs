//! Errors of the front end.

use super::ast::Position;

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
    /// An error at a position.
    pub fn new(at: Position, message: impl Into<String>) -> Error {
        Error {
            line: at.line,
            column: at.column,
            message: message.into(),
        }
    }
}

/// Result of the front end.
pub type Result<T> = std::result::Result<T, Error>;
