//! The reference suite: the set of the kernels of `warpsmith-kernels`, and sessions of it.

use crate::session::Session;
use crate::set::Set;
use crate::{bench, cases, twins};
use anyhow::Result;
use warpsmith_host::prelude::*;

/// The reference suite.
pub static SUITE: Set = Set {
    name: "suite",
    ptx: crate::PTX,
    cases,
    twins: twins::Source {
        within: "",
        tree: concat!(env!("CARGO_MANIFEST_DIR"), "/../twins"),
    },
    bench: |gpu, options, progress| bench::run(&SUITE, gpu, options, progress)?.written(),
};

impl Session {
    /// Loads the suite's kernels on `gpu`.
    pub fn new(gpu: &Gpu) -> Result<Session> {
        Session::of(&SUITE, gpu)
    }
}
