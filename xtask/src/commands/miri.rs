//! `cargo xtask miri`: interprets the simulator's checks and engine with Miri, which finds undefined behaviour in unsafe code.

use crate::cargo;
use crate::progress::Step;
use anyhow::{Result, bail};
use std::process::{Command, ExitCode, Stdio};

/// The toolchain that has Miri: it exists for nightly compilers only.
const TOOLCHAIN: &str = "nightly";

/// What Miri is told.
///
/// * Blessed file tests, time and threads need the host.
/// * Addresses of guest programs are integers, so pointers to guest memory are made of them.
/// * Guests access the same bytes with several widths, which Miri's model of weak memory gives up on.
const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-permissive-provenance \
                     -Zmiri-disable-weak-memory-emulation";

/// The file tests that are interpreted where no others are named: small ones, of a minute each.
const FILES: [&str; 4] = [
    "checks/missing_barrier",
    "checks/lock",
    "checks/warp",
    "checks/uninitialised",
];

/// The options of `cargo xtask miri`.
#[derive(clap::Args)]
pub struct Options {
    /// Tree Borrows in place of Stacked Borrows.
    #[arg(long)]
    tree_borrows: bool,
    /// File tests of the simulator by a part of their path; a short list where none is named.
    files: Vec<String>,
}

/// Runs the unit tests of the checks, then the file tests.
pub fn run(options: &Options) -> Result<ExitCode> {
    prepare()?;
    let mut flags = FLAGS.to_owned();
    if options.tree_borrows {
        flags.push_str(" -Zmiri-tree-borrows");
    }
    let mut failed = Vec::new();
    let mut interpret = |what: &str, arguments: &[&str], file: &str| -> Result<()> {
        eprintln!("     {what}");
        let status = toolchain_cargo(&["miri", "test", "--quiet"])
            .args(["--package", "warpsmith-simulator"])
            .args(arguments)
            .env("MIRIFLAGS", &flags)
            .env("WARPSMITH_FILES", file)
            .status()?;
        if !status.success() {
            failed.push(what.to_owned());
        }
        Ok(())
    };
    if options.files.is_empty() {
        interpret("the checks", &["--lib", "check::"], "")?;
    }
    let chosen = options.files.iter().map(String::as_str);
    let usual = FILES.into_iter().filter(|_| options.files.is_empty());
    for file in chosen.chain(usual) {
        interpret(file, &["--test", "files"], file)?;
    }
    if failed.is_empty() {
        eprintln!("   ok no undefined behaviour");
        Ok(ExitCode::SUCCESS)
    } else {
        bail!(
            "Miri objects to, or a test failed in: {}",
            failed.join(", ")
        )
    }
}

/// Gets Miri and the source of the standard library, unless they are there.
fn prepare() -> Result<()> {
    let has_miri = || {
        toolchain_cargo(&["miri", "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if has_miri() {
        return Ok(());
    }
    let step = Step::begin("fetching Miri");
    let arguments = [
        "component",
        "add",
        "--toolchain",
        TOOLCHAIN,
        "miri",
        "rust-src",
    ];
    let output = Command::new("rustup").args(arguments).output();
    if has_miri() {
        step.finish("it is installed");
        return Ok(());
    }
    let reason = match output {
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("rustup cannot be started: {error}"),
    };
    bail!(
        "Miri is not installed and could not be fetched:\n{reason}\n\
         Run `rustup toolchain install {TOOLCHAIN} --component miri rust-src` where there is a network."
    )
}

/// Cargo of the toolchain that has Miri, whatever cargo runs this.
fn toolchain_cargo(arguments: &[&str]) -> Command {
    let mut command = cargo::of_toolchain(TOOLCHAIN);
    command.args(arguments);
    command
}
