//! `cargo xtask bench`: the kernels on a GPU, the host library, the simulator, or the builder.

use super::{bench_build, bench_toolchains, run, setup};
use crate::{cargo, workspace};
use anyhow::Result;
use std::process::{Command, ExitCode};

/// The page of the book that holds the natural kernels against nvcc's.
const NATURAL_PAGE: &str = "docs/src/natural.md";

/// The options of `cargo xtask bench`.
#[derive(clap::Args)]
pub struct Options {
    #[command(subcommand)]
    benchmark: Option<Benchmark>,
}

/// What is measured.
#[derive(clap::Subcommand)]
enum Benchmark {
    /// Each kernel beside its CUDA C++ twin and the measured roof, on a GPU (the default).
    Kernels {
        /// Handed on to the suite: kernels' names, `--json FILE` ...
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Each natural kernel beside plain CUDA C++, on a GPU; all of them write the page of the book.
    Natural {
        /// Handed on: kernels' names, `--json FILE` ...
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Launches, graphs, allocations and copies of the host library beside plain calls of the driver, and collectives beside NCCL's, on a GPU.
    Host,
    /// Warp instructions a second and core, and what each check costs.
    Simulator,
    /// The first device build ever, another project's first, a rebuild after an edit, and a build with nothing changed.
    Build,
    /// The reference kernels' PTX and registers by toolchain, for each that is installed; writes the tables of the book.
    Toolchains,
}

/// Measures what was asked for.
pub fn run(options: &Options) -> Result<ExitCode> {
    match &options.benchmark {
        None => kernels(run::SUITE, &[]),
        Some(Benchmark::Kernels { arguments }) => kernels(run::SUITE, arguments),
        Some(Benchmark::Natural { arguments }) if arguments.is_empty() => {
            kernels(run::NATURAL, &["--markdown".into(), NATURAL_PAGE.into()])
        }
        Some(Benchmark::Natural { arguments }) => kernels(run::NATURAL, arguments),
        Some(Benchmark::Host) => {
            let host = example("warpsmith-host", "cost")?;
            if host != ExitCode::SUCCESS {
                return Ok(host);
            }
            example("warpsmith-nccl", "call_cost")
        }
        Some(Benchmark::Simulator) => example("warpsmith-simulator", "speed"),
        Some(Benchmark::Build) => bench_build::run(),
        Some(Benchmark::Toolchains) => bench_toolchains::run(),
    }
}

/// Runs a program that a package has as an example.
fn example(package: &str, name: &str) -> Result<ExitCode> {
    let arguments = ["run", "--release", "--quiet", "--package", package];
    cargo::run(cargo::command().args(arguments).args(["--example", name]))
}

fn kernels(program: run::Program, arguments: &[String]) -> Result<ExitCode> {
    setup::prepare()?;
    let program = program.build(&["--release", "--quiet"])?;
    let mut command = Command::new(program);
    command
        .arg("bench")
        .args(arguments)
        .current_dir(workspace::root());
    cargo::run(&mut command)
}
