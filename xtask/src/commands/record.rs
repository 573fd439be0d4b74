//! `cargo xtask record`: records what the device's arithmetic answers, or compares it with what was recorded.

use crate::{cargo, environment, workspace};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The options of `cargo xtask record`.
#[derive(clap::Args)]
pub struct Options {
    /// The folder of the recordings; left out, `recorder/data`.
    dir: Option<PathBuf>,
    /// Where the instructions run: `simulator`, `cuda` or `cuda:N`. Left out: a GPU to record, the simulator to compare.
    #[arg(long)]
    device: Option<String>,
    /// Write nothing; say where the device answers something else than what was recorded.
    #[arg(long)]
    compare: bool,
    /// Only families of instructions whose name contains this.
    #[arg(long)]
    family: Option<String>,
    /// With `--compare`: only programs whose name contains this.
    #[arg(long, requires = "compare")]
    only: Option<String>,
    /// The sweeps over approximate functions as well: some 20 MB, from which tables are derived.
    #[arg(long)]
    sweeps: bool,
}

/// Builds the recorder and runs it.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut command = Command::new(build(&["--quiet"])?);
    command.arg(if options.compare { "compare" } else { "record" });
    let usual = || workspace::root().join("recorder").join("data");
    command.arg(options.dir.clone().unwrap_or_else(usual));
    for (flag, value) in [("--family", &options.family), ("--only", &options.only)] {
        if let Some(value) = value {
            command.args([flag, value]);
        }
    }
    if options.sweeps {
        command.arg("--sweeps");
    }
    let usual = if options.compare { "simulator" } else { "cuda" };
    let device = options.device.as_deref();
    command.env(environment::DEVICE, device.unwrap_or(usual));
    cargo::run(&mut command)
}

/// Builds the recorder and answers where it lies.
pub fn build(flags: &[&str]) -> Result<PathBuf> {
    let name = "warpsmith-recorder";
    let mut arguments = vec!["build", "--package", name, "--bin", name];
    arguments.extend(flags);
    cargo::build(&arguments)?
        .into_iter()
        .find(|executable| executable.name == name)
        .map(|executable| executable.path)
        .context("cargo built the package `warpsmith-recorder` but named no program of that name")
}
