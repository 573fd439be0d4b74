//! `cargo xtask codegen`: the generated sources of `warpsmith-abi`.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

/// The options of `cargo xtask codegen`.
#[derive(clap::Args)]
pub struct Options {
    /// Write nothing; fail if a generated file is not what its description says.
    #[arg(long)]
    check: bool,
}

/// Runs the generator. It is a program of its own, so that the other commands do not wait until it is compiled.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut command = cargo::command();
    command.args(["run", "--quiet", "--package", "warpsmith-codegen", "--"]);
    if options.check {
        command.arg("--check");
    }
    cargo::run(&mut command)
}
