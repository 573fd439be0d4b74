//! `warpsmith-fuzz run [KIND]`; `cargo xtask fuzz` calls it. Rounds and cases run in further processes of this program.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use warpsmith_fuzz::Kind;
use warpsmith_fuzz::fuzzer::{self, Failure, Outcome};
use warpsmith_fuzz::kinds::{self, KINDS};
use warpsmith_fuzz::{Report, case_files};

/// Looks for defects with random programs.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run random rounds of a kind, or of all.
    Run {
        /// The kind; all where it is left out.
        kind: Option<String>,
        /// For how many minutes, in all; left out, for about two minutes.
        #[arg(long)]
        minutes: Option<f64>,
        /// The seed of the first round; each further one adds one.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Try the kept cases of a kind, or of all.
    Replay {
        /// The kind; all where it is left out.
        kind: Option<String>,
    },
    /// One round, in this process.
    #[command(hide = true)]
    Round {
        /// The kind.
        kind: String,
        /// The seed.
        seed: u64,
    },
    /// Cases, in this process.
    #[command(hide = true)]
    Cases {
        /// The kind.
        kind: String,
        /// Their files.
        files: Vec<PathBuf>,
    },
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run {
            kind,
            minutes,
            seed,
        } => run(kind.as_deref(), minutes, seed),
        Command::Replay { kind } => replay(kind.as_deref()),
        Command::Round { kind, seed } => round(&kind, seed),
        Command::Cases { kind, files } => cases(&kind, &files),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Kind>> {
    match name {
        None => Ok(KINDS.iter().collect()),
        Some(name) => Ok(vec![known(name)?]),
    }
}

fn known(name: &str) -> Result<&'static Kind> {
    kinds::find(name).with_context(|| {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        format!("there is no kind `{name}`; there are {}", names.join(", "))
    })
}

fn run(name: Option<&str>, minutes: Option<f64>, seed: u64) -> Result<bool> {
    let kinds = chosen(name)?;
    if minutes.is_some_and(|minutes| !(minutes > 0.0 && minutes < 1e6)) {
        bail!("--minutes is a positive number");
    }
    let mut good = true;
    for kind in &kinds {
        let share = |minutes: f64| Duration::from_secs_f64(minutes * 60.0 / kinds.len() as f64);
        let time = minutes.map_or(kind.usual, share);
        eprintln!("{}: {}", kind.name, kind.summary);
        let outcome = fuzzer::run(kind, seed, time, print)?;
        summarise(kind, &outcome);
        good &= outcome.failures.is_empty();
    }
    Ok(good)
}

fn replay(name: Option<&str>) -> Result<bool> {
    let mut good = true;
    for kind in chosen(name)? {
        let outcome = fuzzer::replay(kind, &case_files(kind.name)?)?;
        outcome.failures.iter().for_each(print);
        summarise(kind, &outcome);
        good &= outcome.failures.is_empty();
    }
    Ok(good)
}

fn print(failure: &Failure) {
    let file = failure.file.as_ref();
    let file = file.map_or(String::new(), |file| format!("{}\n", file.display()));
    eprintln!("  !!! {file}{}", failure.why);
}

fn summarise(kind: &Kind, outcome: &Outcome) {
    let counts: String = outcome
        .counts
        .iter()
        .map(|(unit, count)| format!(", {count} {unit}"))
        .collect();
    println!(
        "{}: {} rounds{counts}, {} failures",
        kind.name,
        outcome.rounds,
        outcome.failures.len()
    );
}

fn round(name: &str, seed: u64) -> Result<bool> {
    let kind = known(name)?;
    let mut report = Report::of_round(kind.name, seed);
    (kind.round)(seed, &mut report)?;
    // What was found has been told.
    Ok(true)
}

fn cases(name: &str, files: &[PathBuf]) -> Result<bool> {
    let kind = known(name)?;
    let mut report = Report::of_round(kind.name, 0);
    (kind.replay)(files, &mut report)?;
    Ok(true)
}
