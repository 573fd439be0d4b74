//! Values beyond their limit.

use std::fmt::{self, Display};

use super::Code;

/// [`Error::Limit`](crate::Error::Limit): a value beyond its limit.
#[derive(Debug)]
pub struct LimitError {
    /// The driver's function that was, or would have been, called.
    pub call: &'static str,
    /// What the driver answers to this.
    pub code: Code,
    /// The kernel, or what else was asked for.
    pub subject: String,
    /// The quantity, in words.
    pub what: &'static str,
    /// What was asked for.
    pub value: u64,
    /// What is possible: the most, or the least where `value` is less.
    pub limit: u64,
    /// What to do about it.
    pub hint: String,
}

impl Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = match self.value < self.limit {
            true => "least",
            false => "limit",
        };
        // Kernels and fields have names; what else it is stands there in words.
        let quote = match self.subject.contains(' ') {
            true => "",
            false => "`",
        };
        write!(
            f,
            "{} of {quote}{}{quote}: {} is {}, the {bound} is {}: {}\n  hint: {}",
            self.call, self.subject, self.what, self.value, self.limit, self.code, self.hint
        )
    }
}

impl std::error::Error for LimitError {}
