//! The developer's commands: `cargo xtask --help` lists them.
//!
//! Each command is one small module under `commands`. What several of them need stands in `cargo` (running cargo and
//! finding what it built), `against_nvcc` (our code beside nvcc's), `environment` (variables), `workspace` (paths), `project` (users' projects), `toolchains` (rustup's)
//! and `progress` (saying what goes on).

mod against_nvcc;
mod cargo;
mod commands;
mod driver;
mod environment;
mod progress;
mod project;
mod toolchains;
mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Kernels in Rust: build, run, test and measure them.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    version,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the reference kernels, run them on the default device and check every result.
    Run(commands::run::Options),
    /// Pass every test of the workspace.
    Test(commands::test::Options),
    /// Compile the kernels of this workspace, a project or a kernel crate to PTX and report on each kernel.
    BuildPtx(commands::build_ptx::Options),
    /// Prepare the caches that `run` and `test` would prepare, and optionally fetch ptxas.
    Setup(commands::setup::Options),
    /// List each ingredient of the toolchain, what is wrong with it and the remedy.
    Doctor(commands::doctor::Options),
    /// Measure: kernels on a GPU, the simulator, or the builder.
    Bench(commands::bench::Options),
    /// Make a relocatable folder of tests, suite and benchmarks for a machine without Rust.
    Bundle(commands::bundle::Options),
    /// Generate the bindings of NVIDIA's libraries from their descriptions and headers.
    Codegen(commands::codegen::Options),
    /// Record what a GPU's arithmetic answers, or compare a device with what was recorded.
    Record(commands::record::Options),
    /// Look for defects with random programs, PTX, driver calls and mutants.
    Fuzz(commands::fuzz::Options),
    /// Interpret unit and file tests with Miri, which finds undefined behaviour in unsafe code.
    Miri(commands::miri::Options),
    /// Run the simulator's tests under AddressSanitizer or ThreadSanitizer.
    Sanitize(commands::sanitize::Options),
    /// Build the drop-in `libcuda.so.1` and print its folder.
    Simulator(commands::simulator::Options),
    /// Compare the instruction tables with ptxas.
    Isa(commands::isa::Options),
    /// Make a new project that builds and runs on either device.
    New(commands::new::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(options) => commands::run::run(&options),
        Command::Test(options) => commands::test::run(&options),
        Command::BuildPtx(options) => commands::build_ptx::run(&options),
        Command::Setup(options) => commands::setup::run(&options),
        Command::Doctor(options) => commands::doctor::run(&options),
        Command::Bench(options) => commands::bench::run(&options),
        Command::Bundle(options) => commands::bundle::run(&options),
        Command::Codegen(options) => commands::codegen::run(&options),
        Command::Record(options) => commands::record::run(&options),
        Command::Fuzz(options) => commands::fuzz::run(&options),
        Command::Miri(options) => commands::miri::run(&options),
        Command::Sanitize(options) => commands::sanitize::run(&options),
        Command::Simulator(options) => commands::simulator::run(&options),
        Command::Isa(options) => commands::isa::run(&options),
        Command::New(options) => commands::new::run(&options),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
