//! What a kind of fuzzing is.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::isolated::Limits;
use crate::report::Report;

/// A kind of fuzzing. Its rounds and its cases run in processes of their own.
pub struct Kind {
    /// Its name on the command line, and of its folder of cases.
    pub name: &'static str,
    /// What it compares or tries.
    pub summary: &'static str,
    /// How long it is run by default.
    pub usual: Duration,
    /// What a process of it may use between two lines.
    pub limits: Limits,
    /// What the processes of it have in their environment.
    pub environment: &'static [(&'static str, &'static str)],
    /// Whether a case without some of its lines may be one, too.
    pub reducible: bool,
    /// Tries random cases, the same for the same seed.
    pub round: fn(u64, &mut Report) -> Result<()>,
    /// Tries the cases of files.
    pub replay: fn(&[PathBuf], &mut Report) -> Result<()>,
}
