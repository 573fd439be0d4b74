//! Codes of the driver other than success.

use std::fmt::{self, Display};

use super::Code;

/// [`Error::Driver`](crate::Error::Driver): a code other than success.
#[derive(Debug)]
pub struct DriverError {
    /// The driver's function.
    pub call: &'static str,
    /// What it answered.
    pub code: Code,
    /// What was being done, if more is known than the call.
    pub context: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_call(f, self.call, self.context.as_deref(), self.code)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for DriverError {}

/// The line that says what was called, what was being done and what the driver answered.
pub(super) fn write_call(
    f: &mut fmt::Formatter<'_>,
    call: &str,
    context: Option<&str>,
    code: Code,
) -> fmt::Result {
    write!(f, "{call}")?;
    if let Some(context) = context {
        write!(f, " ({context})")?;
    }
    write!(f, ": {code}")?;
    if !code.description().is_empty() {
        write!(f, ": {}", code.description())?;
    }
    Ok(())
}
