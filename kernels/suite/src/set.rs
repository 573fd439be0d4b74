//! A set of kernels with what belongs to it. [`SUITE`](crate::suite::SUITE) is one.

use crate::bench;
use crate::case::{Case, Progress};
use crate::twins;
use anyhow::{Context, Result};
use warpsmith_host::prelude::*;

/// Kernels with their PTX, cases, twins and the report of their benchmark.
#[derive(Debug)]
pub struct Set {
    /// The program's name.
    pub name: &'static str,
    /// The kernels' PTX.
    pub ptx: &'static str,
    /// The cases, in the order in which they are listed.
    pub cases: fn() -> &'static [Case],
    /// Where the CUDA C++ twins are.
    pub twins: twins::Source,
    /// Runs the benchmark.
    pub bench: Benchmark,
}

/// What runs a benchmark: it is told what to measure, and tells where it is.
pub type Benchmark = fn(&Gpu, &bench::Options, &mut dyn FnMut(Progress)) -> Result<Written>;

/// The report of a benchmark as text.
#[derive(Clone, Debug)]
pub struct Written {
    /// For the terminal.
    pub terminal: String,
    /// Everything that was measured.
    pub json: String,
    /// The page of the book.
    pub markdown: String,
}

impl Set {
    /// The case of this name.
    pub fn case(&self, name: &str) -> Option<&'static Case> {
        (self.cases)().iter().find(|case| case.name == name)
    }

    /// The cases of these names, all where there is none.
    pub fn chosen(&self, names: &[String]) -> Result<Vec<&'static Case>> {
        if names.is_empty() {
            return Ok((self.cases)().iter().collect());
        }
        let find = |name: &String| {
            self.case(name).with_context(|| {
                let all: Vec<_> = (self.cases)().iter().map(|case| case.name).collect();
                format!("there is no case `{name}`; there are {}", all.join(", "))
            })
        };
        names.iter().map(find).collect()
    }
}
