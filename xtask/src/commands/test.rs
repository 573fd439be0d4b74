//! `cargo xtask test`: passes every test of the workspace, or a set of them with another toolchain.

use super::setup;
use crate::toolchains::{self, Installed};
use crate::{cargo, environment, workspace};
use anyhow::{Context, Result};
use std::process::ExitCode;
use std::time::Instant;
use warpsmith_builder::toolchain::tested::Standing;

/// The options of `cargo xtask test`.
#[derive(clap::Args)]
pub struct Options {
    /// Where the tests run: `simulator`, `cuda` or `cuda:N`. Left out: a GPU if there is one, else the simulator.
    #[arg(long)]
    device: Option<String>,
    /// Build everything, kernels and host, with this toolchain of rustup's, and pass the tests that depend on it: the builder's,
    /// the end-to-end tests, the reference kernels and a new project. `installed` stands for each one that is installed.
    #[arg(long, value_name = "TOOLCHAIN", conflicts_with = "arguments")]
    toolchain: Option<String>,
    /// Handed on to `cargo test`: a test's name, `-p PACKAGE`, `-- --nocapture` ...
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Sets up, then runs `cargo test` over the whole workspace, or over what the arguments choose.
pub fn run(options: &Options) -> Result<ExitCode> {
    match options.toolchain.as_deref() {
        Some("installed") => {
            for installed in toolchains::others()? {
                with_toolchain(&installed, options.device.as_deref())?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        Some(name) => {
            with_toolchain(&toolchains::find(name)?, options.device.as_deref())?;
            return Ok(ExitCode::SUCCESS);
        }
        None => {}
    }
    setup::prepare()?;
    let chooses = options
        .arguments
        .iter()
        .any(|argument| argument == "-p" || argument.starts_with("--package"));
    if chooses {
        return test(&[], options);
    }
    let passed = test(&["--workspace"], options)?;
    if passed != ExitCode::SUCCESS {
        return Ok(passed);
    }
    test(&OF_FEATURES, options)
}

/// What tests features that are left out by default, as arguments of cargo.
pub(super) const OF_FEATURES: [&str; 8] = [
    "-p",
    "warpsmith-host",
    "--features",
    "tracing,nvtx",
    "--test",
    "spans",
    "--test",
    "nvtx",
];

/// Passes the tests of these packages, with the user's arguments behind.
fn test(packages: &[&str], options: &Options) -> Result<ExitCode> {
    let mut command = cargo::command();
    command.arg("test").args(packages).args(&options.arguments);
    if let Some(device) = &options.device {
        command.env(environment::DEVICE, device);
    }
    cargo::run(&mut command)
}

/// What depends on the toolchain, as arguments of cargo. The cache's recovery does not, and builds `core` several times.
const DEPENDENT: [&[&str]; 4] = [
    &[
        "test",
        "-p",
        "warpsmith-builder",
        "--lib",
        "--test",
        "suite",
        "--",
        "--skip",
        "the_cache_survives",
    ],
    &["test", "-p", "warpsmith-tests"],
    &[
        "run",
        "-p",
        "warpsmith-suite",
        "--bin",
        "suite",
        "--",
        "run",
    ],
    &["test", "-p", "xtask", "--test", "new_project"],
];

/// Passes the tests that depend on the toolchain, in a target folder of its own.
fn with_toolchain(installed: &Installed, device: Option<&str>) -> Result<()> {
    let (name, toolchain) = (&installed.name, &installed.toolchain);
    let standing = toolchain.standing()?;
    eprintln!(
        "  ... {name}: rustc {} with LLVM {}",
        toolchain.release, toolchain.llvm_version
    );
    let since = Instant::now();
    let target = workspace::root().join("target/toolchains").join(name);
    for arguments in DEPENDENT {
        let mut command = cargo::of_toolchain(name);
        command
            .args(&arguments[..1])
            .arg("--quiet")
            .args(&arguments[1..])
            .env("CARGO_TARGET_DIR", &target);
        if let Some(device) = device {
            command.env(environment::DEVICE, device);
        }
        cargo::run_or_fail(&mut command).with_context(|| format!("with the toolchain {name}"))?;
    }
    eprintln!("   ok {name} ({:.0} s)", since.elapsed().as_secs_f64());
    if standing == Standing::Untested {
        println!(
            "The line of {name} in builder/src/toolchain/tested.rs: tested(\"{}\", \"{:.9}\", \"{}\"),",
            toolchain.release, toolchain.commit, toolchain.llvm_version
        );
    }
    Ok(())
}
