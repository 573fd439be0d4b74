//! Where in the source an instruction comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A location in the source of a kernel, from `.loc`; `file` is empty where the PTX has no line information, and then
/// `line` is the PTX line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    /// File as the compiler recorded it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// Line in the PTX text, from 1.
    pub ptx_line: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            write!(f, "PTX line {}", self.ptx_line)
        } else if self.column == 0 {
            write!(f, "{}:{}", self.file, self.line)
        } else {
            write!(f, "{}:{}:{}", self.file, self.line, self.column)
        }
    }
}

/// A function of the PTX that a thread is in, and the instruction that it has reached there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function's name, as the PTX spells it.
    pub function: String,
    /// The instruction's location: in the innermost of the source functions that the compiler inlined there.
    #[serde(default)]
    pub location: Option<SourceLocation>,
    /// The calls that were inlined around `location`, the innermost first; the last one stands in `function` itself.
    #[serde(default)]
    pub inlined: Vec<InlinedCall>,
}

/// A call that the compiler replaced by the called function's body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlinedCall {
    /// The function that was called, as the compiler recorded it, if it did.
    #[serde(default)]
    pub function: Option<String>,
    /// Where the call stands.
    pub call: SourceLocation,
}
