//! `suite`: lists, runs and times the reference kernels. One program with its PTX inside, so that it can be carried to a
//! machine without Rust.

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::process::ExitCode;
use warpsmith_host::prelude::*;
use warpsmith_suite::{Progress, Session, bench, cases, table};

/// The reference suite: lists, runs and times its kernels.
#[derive(Parser)]
#[command(name = "suite")]
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

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::List => {
            for case in cases() {
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
            let session = Session::new(&open(device)?)?;
            if let Some(checks) = checks
                && !warpsmith_driver::configure_simulator("checks", &checks)
            {
                bail!(
                    "`--checks {checks}`: only the simulator has checks, and it does not know these"
                );
            }
            let mut outcomes = Vec::new();
            let bar = bar();
            for case in chosen(&names)? {
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
            let report = bench::run(&gpu, &options, &mut |progress| show(&bar, &progress))?;
            bar.finish_and_clear();
            println!("{}\n{}", report.table(), report.summary());
            if report.simulator {
                println!("These are the simulator's times: they say nothing about a GPU.");
            }
            if let Some(path) = json {
                let text = serde_json::to_string_pretty(&report)? + "\n";
                std::fs::write(&path, text)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
            if let Some(path) = markdown {
                std::fs::write(&path, report.markdown())
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

fn chosen(names: &[String]) -> Result<Vec<&'static warpsmith_suite::Case>> {
    if names.is_empty() {
        return Ok(cases().iter().collect());
    }
    let find = |name: &String| {
        warpsmith_suite::case(name).with_context(|| {
            format!("there is no kernel `{name}`; `list` (`cargo xtask run --list`) shows all")
        })
    };
    names.iter().map(find).collect()
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
