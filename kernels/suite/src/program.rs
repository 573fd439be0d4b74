//! The program of a set of kernels: lists, runs and times them. Its PTX is inside, so that it can be carried to a machine without Rust.

use crate::case::Progress;
use crate::session::Session;
use crate::set::Set;
use crate::{bench, table};
use anyhow::{Context, Result, bail};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::process::ExitCode;
use warpsmith_host::prelude::*;

/// Lists, runs and times kernels.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the kernels.
    List,
    /// Runs kernels and checks every result against a CPU oracle.
    Run {
        /// Kernels; all if none is given.
        names: Vec<String>,
        /// `simulator`, `cuda` or `cuda:N`; by default a GPU if there is one.
        #[arg(long)]
        device: Option<DeviceChoice>,
        /// Problem size, instead of the device's default.
        #[arg(long)]
        size: Option<usize>,
        /// Seed of the inputs.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The simulator's checks: `all`, `none`, or a list such as `bounds,races`.
        #[arg(long)]
        checks: Option<String>,
    },
    /// Times kernels against their CUDA C++ twins and the device's roofs.
    Bench {
        /// Kernels; all if none is given.
        names: Vec<String>,
        /// As for `run`. On the simulator the times mean nothing.
        #[arg(long)]
        device: Option<DeviceChoice>,
        /// Problem size, instead of the device's default.
        #[arg(long)]
        size: Option<usize>,
        /// Seed of the inputs.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Timed launches of each implementation.
        #[arg(long, default_value_t = 21)]
        repetitions: usize,
        /// Does without the CUDA C++ twins, and so without nvcc.
        #[arg(long)]
        no_twins: bool,
        /// Writes everything that was measured to this file.
        #[arg(long)]
        json: Option<PathBuf>,
        /// Writes the page for the docs to this file.
        #[arg(long)]
        markdown: Option<PathBuf>,
    },
}

/// Does what the command line says, with the kernels of `set`.
pub fn main(set: &'static Set) -> ExitCode {
    let matches = Arguments::command().name(set.name).get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match run(set, arguments.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(set: &'static Set, command: Command) -> Result<ExitCode> {
    match command {
        Command::List => {
            for case in (set.cases)() {
                println!("{:<20} {}", case.name, case.summary);
            }
        }
        Command::Run {
            names,
            device,
            size,
            seed,
            checks,
        } => {
            let session = Session::of(set, &open(device)?)?;
            if let Some(checks) = checks
                && !warpsmith_driver::configure_simulator("checks", &checks)
            {
                bail!(
                    "`--checks {checks}`: only the simulator has checks, and it does not know these"
                );
            }
            let mut outcomes = Vec::new();
            let bar = bar();
            for case in set.chosen(&names)? {
                outcomes
                    .push(case.run(&session, size, seed, &mut |progress| show(&bar, &progress))?);
            }
            bar.finish_and_clear();
            println!("{}", table::outcomes(&outcomes, &session.device()));
            if outcomes.iter().any(|outcome| outcome.verified.is_err()) {
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::Bench {
            names,
            device,
            size,
            seed,
            repetitions,
            no_twins,
            json,
            markdown,
        } => {
            let options = bench::Options {
                names,
                warm_ups: 1,
                repetitions: repetitions.max(1),
                seed,
                twins: !no_twins,
                size,
                on_simulator: matches!(
                    device,
                    Some(DeviceChoice::Simulator | DeviceChoice::SimulatorDevice(_))
                ),
            };
            let gpu = open(device)?;
            let bar = bar();
            let written = (set.bench)(&gpu, &options, &mut |progress| show(&bar, &progress))?;
            bar.finish_and_clear();
            println!("{}", written.terminal);
            if gpu.is_simulator() {
                println!("These are the simulator's times: they say nothing about a GPU.");
            }
            if let Some(path) = json {
                std::fs::write(&path, written.json)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
            if let Some(path) = markdown {
                std::fs::write(&path, written.markdown)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn open(device: Option<DeviceChoice>) -> Result<Gpu> {
    Ok(match device {
        Some(device) => Gpu::open(device)?,
        None => Gpu::open_default()?,
    })
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}

fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_message(format!(
        "{}: {} ({}/{})",
        progress.case,
        progress.step,
        progress.done + 1,
        progress.steps
    ));
    bar.tick();
}
