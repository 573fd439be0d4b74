//! The kinds of fuzzing.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::isolated::Limits;
use crate::report::Report;
use crate::{api, host, mutants, programs, ptx};

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

/// All of them.
pub const KINDS: &[Kind] = &[
    programs::SCALAR,
    programs::WARP,
    ptx::PTX,
    api::API,
    host::HOST,
    mutants::MUTANTS,
];

/// The kind of this name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
