//! `cargo xtask fuzz`: looks for defects with random programs, and tries again what was found before.

use super::setup;
use crate::cargo;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The options of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub struct Options {
    /// The kind; all of them where it is left out (an unknown one is answered with their names).
    name: Option<String>,
    /// For how many minutes in all; left out, about two minutes for all kinds.
    #[arg(long)]
    minutes: Option<f64>,
    /// The seed of the first round, from which the others follow: the same seed, the same cases.
    #[arg(long)]
    seed: Option<u64>,
    /// Try the cases that were kept, and nothing else.
    #[arg(long, conflicts_with_all = ["minutes", "seed"])]
    replay: bool,
}

/// Builds the fuzzers and hands the options on to them.
pub fn run(options: &Options) -> Result<ExitCode> {
    setup::prepare()?;
    let mut command = Command::new(build(&["--quiet"])?);
    command.arg(if options.replay { "replay" } else { "run" });
    command.args(&options.name);
    for (flag, value) in [
        ("--minutes", options.minutes.map(|value| value.to_string())),
        ("--seed", options.seed.map(|value| value.to_string())),
    ] {
        if let Some(value) = value {
            command.args([flag, &value]);
        }
    }
    cargo::run(&mut command)
}

/// Builds the fuzzers' program and answers where it lies.
fn build(flags: &[&str]) -> Result<PathBuf> {
    let name = "warpsmith-fuzz";
    let mut arguments = vec!["build", "--package", name, "--bin", name];
    arguments.extend(flags);
    cargo::build(&arguments)?
        .into_iter()
        .find(|executable| executable.name == name)
        .map(|executable| executable.path)
        .context("cargo built the package `warpsmith-fuzz` but named no program of that name")
}
