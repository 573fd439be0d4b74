//! `cargo xtask sanitize`: the simulator's tests, and those of the driver interface, under a sanitizer of LLVM, which sees the vector
//! code that Miri cannot interpret, and several workers at full speed.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;
use warpsmith_builder::core_source;
use warpsmith_builder::toolchain::Toolchain;

/// The machines that the sanitizers are used on: the engine's vector code is for this one.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The packages that are tested by default: their unit tests, and [`TESTS`].
const PACKAGES: [&str; 2] = ["warpsmith-simulator", "warpsmith-driver"];

/// The files of tests that are run by default: all but those that compare much arithmetic, which is one thread's, and those of how a process
/// finds a driver.
const TESTS: &[&str] = &[
    "default_streams",
    "devices",
    "driver_calls",
    "files",
    "graphs",
    "launches",
    "memory",
    "modules",
    "observer",
    "streams",
    "virtual_memory",
];

/// The options of `cargo xtask sanitize`.
#[derive(clap::Args)]
pub struct Options {
    /// Which one.
    #[arg(value_enum)]
    sanitizer: Sanitizer,
    /// Handed on to `cargo test`; the simulator's unit and file tests and those of the driver interface where it is left out.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// A sanitizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Sanitizer {
    /// AddressSanitizer: accesses outside of allocations and after their end.
    Address,
    /// ThreadSanitizer: data races of the simulator's own threads.
    Thread,
}

impl Sanitizer {
    /// Its name in rustc's option, and in the folder of what it builds.
    fn name(self) -> &'static str {
        match self {
            Sanitizer::Address => "address",
            Sanitizer::Thread => "thread",
        }
    }
}

/// Builds the standard library and the tests with the sanitizer, and runs them.
pub fn run(options: &Options) -> Result<ExitCode> {
    let name = options.sanitizer.name();
    let toolchain = Toolchain::find()?;
    let library = core_source::find_or_fetch(&toolchain)?;
    let mut command = cargo::command();
    command
        .args(["test", "-Zbuild-std", "--target", TARGET])
        .arg("--target-dir")
        .arg(format!("target/sanitize-{name}"));
    if options.arguments.is_empty() {
        command.args(["--lib", "--no-fail-fast"]);
        command.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
        command.args(TESTS.iter().flat_map(|test| ["--test", test]));
    } else {
        command.args(&options.arguments);
    }
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("__CARGO_TESTS_ONLY_SRC_ROOT", &library)
        .env("RUSTFLAGS", format!("-Zsanitizer={name}"));
    cargo::run(&mut command)
}
