//! `cargo xtask test`: passes every test of the workspace.

use super::setup;
use crate::{cargo, environment};
use anyhow::Result;
use std::process::ExitCode;

/// The options of `cargo xtask test`.
#[derive(clap::Args)]
pub struct Options {
    /// Where the tests run: `simulator`, `cuda` or `cuda:N`. Left out: a GPU if there is one, else the simulator.
    #[arg(long)]
    device: Option<String>,
    /// Handed on to `cargo test`: a test's name, `-p PACKAGE`, `-- --nocapture` ...
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Sets up, then runs `cargo test` over the whole workspace, or over what the arguments choose.
pub fn run(options: &Options) -> Result<ExitCode> {
    setup::prepare()?;
    let mut command = cargo::command();
    command.arg("test");
    let chooses = options
        .arguments
        .iter()
        .any(|argument| argument == "-p" || argument.starts_with("--package"));
    if !chooses {
        command.arg("--workspace");
    }
    command.args(&options.arguments);
    if let Some(device) = &options.device {
        command.env(environment::DEVICE, device);
    }
    cargo::run(&mut command)
}
