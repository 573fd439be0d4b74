//! Calls that cannot work.

use std::fmt::{self, Display};

use super::Code;

/// [`Error::Invalid`](crate::Error::Invalid).
#[derive(Debug)]
pub struct Misuse {
    /// What was called.
    pub call: &'static str,
    /// The driver's code for this, where it has one.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.call, self.code, self.message)?;
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Misuse {}

/// [`Error::Unsupported`](crate::Error::Unsupported).
#[derive(Debug)]
pub struct Unsupported {
    /// What was asked for.
    pub what: String,
    /// What it needs.
    pub needs: String,
}

impl Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}\n  hint: it needs {}",
            self.what,
            Code::NOT_SUPPORTED,
            self.needs
        )
    }
}

impl std::error::Error for Unsupported {}
