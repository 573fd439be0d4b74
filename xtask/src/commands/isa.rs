//! `cargo xtask isa`: compares the instruction tables and the simulator's front end with ptxas.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

/// The options of `cargo xtask isa`.
#[derive(clap::Args)]
pub struct Options {
    /// Have ptxas judge an example of each form and of each alternative of it, for every PTX version and architecture, and a part of
    /// what can be wrong with an instruction or a declaration.
    #[arg(long)]
    check: bool,
    /// Check all faults, not a part of them that is always the same.
    #[arg(long, requires = "check")]
    all: bool,
    /// Check this alone: `forms`, `modifiers`, `operands` or `declarations`.
    #[arg(long, requires = "check")]
    only: Option<String>,
    /// Print since when ptxas knows each form: for who adds a form.
    #[arg(long)]
    since: bool,
}

/// Runs the comparison. It is a program of its own, so that the other commands do not wait until the simulator is compiled.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut command = cargo::command();
    command.args(["run", "--quiet", "--package", "warpsmith-isa-check", "--"]);
    for (flag, given) in [
        ("--check", options.check),
        ("--all", options.all),
        ("--since", options.since),
    ] {
        if given {
            command.arg(flag);
        }
    }
    if let Some(part) = &options.only {
        command.args(["--only", part]);
    }
    cargo::run(&mut command)
}
