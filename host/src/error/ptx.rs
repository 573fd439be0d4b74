//! PTX that the driver rejects.

use std::fmt::{self, Display};

use super::Code;

/// [`Error::Ptx`](crate::Error::Ptx): the module's text was refused.
#[derive(Debug)]
pub struct PtxError {
    /// The driver's function.
    pub call: &'static str,
    /// What it answered.
    pub code: Code,
    /// The compiler's log, or the simulator's message with line and column.
    pub log: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}",
            self.call,
            self.code,
            self.code.description()
        )?;
        for line in self.log.lines().filter(|line| !line.trim().is_empty()) {
            write!(f, "\n  | {line}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PtxError {}
