//! `cargo xtask miri`: interprets the simulator's unit and file tests with Miri, which finds undefined behaviour in unsafe code.

use crate::cargo;
use crate::progress::Step;
use anyhow::{Result, bail};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// The toolchain that has Miri: it exists for nightly compilers only.
const TOOLCHAIN: &str = "nightly";

/// What Miri is told.
///
/// * Blessed file tests, time and threads need the host.
/// * Addresses of guest programs are integers, so pointers to guest memory are made of them.
/// * Guests access the same bytes with several widths, which Miri's model of weak memory gives up on.
/// * The host's square roots and the like are exact enough for the tests; Miri's own are off by chance, to find programs that rely on them.
const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-permissive-provenance \
                     -Zmiri-disable-weak-memory-emulation -Zmiri-deterministic-floats";

/// Idle threads of streams linger by design, and are gone with the process.
const LINGERING_THREADS: &str = "-Zmiri-ignore-leaks";

/// A unit test that Miri cannot interpret: it asks the C library, whose functions with a variable number of arguments Miri does not call.
const NOT_INTERPRETED: &str = "numbers_are_formatted_as_by_the_c_library";

/// The file tests that are interpreted by default.
const FEW_FILES: &[&str] = &["isa/control", "isa/copy", "checks/uninitialised"];

/// Those that are interpreted with `--all`: families whose operations touch memory in a way of their own.
const ALL_FILES: &[&str] = &[
    "isa/atomic",
    "isa/barrier",
    "isa/control",
    "isa/copy",
    "isa/half",
    "isa/mbarrier",
    "checks/uninitialised",
];

/// The options of `cargo xtask miri`.
#[derive(clap::Args)]
pub struct Options {
    /// Tree Borrows in place of Stacked Borrows.
    #[arg(long)]
    tree_borrows: bool,
    /// All unit tests of the simulator, and a file test of each family of instructions.
    #[arg(long, conflicts_with = "files")]
    all: bool,
    /// File tests of the simulator by a part of their path, in place of all else.
    files: Vec<String>,
}

/// One run of Miri.
struct Interpretation {
    what: String,
    /// What follows `cargo miri test --package warpsmith-simulator`.
    arguments: Vec<&'static str>,
    /// Flags besides those of all runs.
    flags: String,
}

impl Interpretation {
    /// The unit tests whose names have one of these parts.
    fn of_units(what: &str, parts: &[&'static str]) -> Self {
        let mut arguments = vec!["--lib", "--", "--skip", NOT_INTERPRETED];
        arguments.extend(parts);
        Self {
            what: what.to_owned(),
            arguments,
            flags: LINGERING_THREADS.to_owned(),
        }
    }

    /// The file tests whose paths have one of these parts.
    fn of_files<T: AsRef<str>>(parts: &[T]) -> Self {
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        Self {
            what: format!("file tests: {}", parts.join(", ")),
            arguments: vec!["--test", "files", "--", "--nocapture"],
            // Variables of the environment are those of the time when the test was built.
            flags: format!("-Zmiri-env-set=WARPSMITH_FILES={}", parts.join(",")),
        }
    }

    fn run(&self, common: &str) -> Result<bool> {
        eprintln!("  ... {}", self.what);
        let start = Instant::now();
        let status = toolchain_cargo(&["miri", "test", "--quiet"])
            .args(["--package", "warpsmith-simulator"])
            .args(&self.arguments)
            .env("MIRIFLAGS", format!("{common} {}", self.flags))
            .status()?;
        let seconds = start.elapsed().as_secs();
        eprintln!("      {seconds} s, {status}");
        Ok(status.success())
    }
}

fn interpretations(options: &Options) -> Vec<Interpretation> {
    if !options.files.is_empty() {
        return vec![Interpretation::of_files(&options.files)];
    }
    // The other modules have no unsafe code, or none that a unit test reaches.
    let unsafe_code = ["check::", "engine::", "memory::", "work::", "streams::"];
    if options.all {
        vec![
            Interpretation::of_units("all unit tests", &[]),
            Interpretation::of_files(ALL_FILES),
        ]
    } else {
        vec![
            Interpretation::of_units(
                "unit tests of checks, engine, memory and queues",
                &unsafe_code,
            ),
            Interpretation::of_files(FEW_FILES),
        ]
    }
}

/// Runs unit tests, then file tests.
pub fn run(options: &Options) -> Result<ExitCode> {
    prepare()?;
    let mut flags = FLAGS.to_owned();
    if options.tree_borrows {
        flags.push_str(" -Zmiri-tree-borrows");
    }
    let mut failed = Vec::new();
    for interpretation in interpretations(options) {
        if !interpretation.run(&flags)? {
            failed.push(interpretation.what);
        }
    }
    if failed.is_empty() {
        eprintln!("   ok no undefined behaviour");
        Ok(ExitCode::SUCCESS)
    } else {
        bail!(
            "Miri objects to, or a test failed in: {}",
            failed.join("; ")
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
