//! `cargo xtask run`: builds the reference kernels, runs them and checks every result.

use super::setup;
use crate::cargo;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The options of `cargo xtask run`.
#[derive(clap::Args)]
pub struct Options {
    /// The one kernel to run; all of them where it is left out (`--list` names them).
    name: Option<String>,
    /// Where to run: `simulator`, `cuda` or `cuda:N`. Left out: a GPU if there is one, else the simulator.
    #[arg(long)]
    device: Option<String>,
    /// The problem's size in the kernel's own unit; its default suits the device.
    #[arg(long)]
    size: Option<usize>,
    /// The seed that inputs are drawn from.
    #[arg(long)]
    seed: Option<u64>,
    /// The simulator's checks: `all`, `none`, or a list such as `bounds,races`.
    #[arg(long)]
    checks: Option<String>,
    /// Name the kernels and stop.
    #[arg(long)]
    list: bool,
}

/// Builds the suite and hands the options on to it.
pub fn run(options: &Options) -> Result<ExitCode> {
    setup::prepare()?;
    let suite = SUITE.build(&["--quiet"])?;
    let mut command = Command::new(suite);
    command.arg(if options.list { "list" } else { "run" });
    if !options.list {
        command.args(&options.name);
        for (flag, value) in [
            ("--device", options.device.clone()),
            ("--size", options.size.map(|size| size.to_string())),
            ("--seed", options.seed.map(|seed| seed.to_string())),
            ("--checks", options.checks.clone()),
        ] {
            if let Some(value) = value {
                command.args([flag, &value]);
            }
        }
    }
    cargo::run(&mut command)
}

/// A program that lists, runs and times a set of kernels.
#[derive(Clone, Copy)]
pub struct Program {
    package: &'static str,
    name: &'static str,
}

/// That of the reference suite.
pub const SUITE: Program = Program {
    package: "warpsmith-suite",
    name: "suite",
};

/// That of the natural kernels.
pub const NATURAL: Program = Program {
    package: "warpsmith-natural-suite",
    name: "natural",
};

impl Program {
    /// Builds it and answers where it lies.
    pub fn build(self, flags: &[&str]) -> Result<PathBuf> {
        let Program { package, name } = self;
        let mut arguments = vec!["build", "--package", package, "--bin", name];
        arguments.extend(flags);
        eprintln!("  ... building `{name}` and its kernels");
        cargo::build(&arguments)?
            .into_iter()
            .find(|executable| executable.name == name)
            .map(|executable| executable.path)
            .with_context(|| {
                format!("cargo built the package `{package}` but named no program `{name}`")
            })
    }
}
