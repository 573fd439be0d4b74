//! Memory that the device may be using.

use std::fmt::{self, Display};

use super::Code;

/// [`Error::Busy`](crate::Error::Busy).
#[derive(Debug)]
pub struct Busy {
    /// What was asked for.
    pub call: &'static str,
    /// Why it cannot be had now.
    pub reason: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}\n  hint: {}",
            self.call,
            Code::NOT_READY,
            self.reason,
            self.hint
        )
    }
}

impl std::error::Error for Busy {}
