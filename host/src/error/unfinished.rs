//! Memory that work of another library left unfinished.

use std::fmt::{self, Display};

/// [`Error::Unfinished`](crate::Error::Unfinished).
#[derive(Debug, Clone)]
pub struct Unfinished {
    /// What was to read the memory.
    pub call: &'static str,
    /// The work that was to write it.
    pub work: &'static str,
    /// Why that was given up.
    pub reason: String,
}

impl Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: the memory's contents are undefined: `{}` was writing it and was given up: {}\n  hint: write it anew, by a fill, a copy or a kernel",
            self.call, self.work, self.reason
        )
    }
}

impl std::error::Error for Unfinished {}
