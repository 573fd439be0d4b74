//! `warpsmith-recorder record DIR` writes what the device answers; `compare DIR` says where it answers something else than what
//! was recorded. `cargo xtask record` and a bundle's `run.sh record` call it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use warpsmith_driver::Choice;
use warpsmith_recorder::compare::compare;
use warpsmith_recorder::device::Device;
use warpsmith_recorder::families::families;
use warpsmith_recorder::program::{Family, Program, module};
use warpsmith_recorder::recording::{Entry, Recording};
use warpsmith_recorder::sweep;

/// Records a device's arithmetic, or compares with what was recorded.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write what the device answers: a file for each family of instructions, below DIR/sm_NN.
    Record(Options),
    /// Run the same and say where the device answers something else than the files of DIR/sm_NN.
    Compare(Options),
    /// Print the PTX of programs, as one module.
    Show {
        /// A part of their names.
        name: String,
        /// Only families whose name contains this.
        #[arg(long, default_value = "")]
        family: String,
    },
}

#[derive(Args)]
struct Options {
    /// The folder of the recordings.
    dir: PathBuf,
    /// Only families whose name contains this.
    #[arg(long, default_value = "")]
    family: String,
    /// Only programs whose name contains this: to compare.
    #[arg(long, default_value = "")]
    only: String,
    /// The sweeps over approximate functions as well: some 20 MB, from which tables are derived.
    #[arg(long)]
    sweeps: bool,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Record(options) => record(&options),
        Command::Compare(options) => differences(&options),
        Command::Show { name, family } => {
            show(&name, &family);
            Ok(ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn chosen(options: &Options) -> Vec<Family> {
    let mut all = families();
    if options.sweeps {
        all.push(sweep::sweeps());
    }
    all.retain(|family| family.name.contains(&options.family));
    all
}

fn folder(dir: &Path, device: &Device) -> Result<PathBuf> {
    Ok(dir.join(format!("sm_{}", device.capability()?)))
}

fn record(options: &Options) -> Result<ExitCode> {
    let device = Device::new(Choice::Default)?;
    let folder = folder(&options.dir, &device)?;
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("could not make {}", folder.display()))?;
    let described = device.describe()?;
    eprintln!("{described}");
    for family in chosen(options) {
        let start = Instant::now();
        let programs: Vec<&Program> = family.programs.iter().collect();
        let answers = device.run(&programs, |done| {
            eprint!("\r{}: {done} of {}", family.name, programs.len());
            let _ = std::io::stderr().flush();
        });
        let ran = start.elapsed();
        let entries: Vec<Entry> = programs
            .iter()
            .zip(answers)
            .map(|(program, answer)| Entry::new(program, answer))
            .collect();
        let refused: Vec<&Entry> = entries
            .iter()
            .filter(|entry| entry.answer.is_err())
            .collect();
        eprint!(
            "\r{}: {} programs, {} of them refused",
            family.name,
            entries.len(),
            refused.len()
        );
        for entry in refused.iter().take(6) {
            let why = entry.answer.as_ref().err().map_or("", String::as_str);
            eprint!("\n    {}: {why}", entry.name);
        }
        let file = folder.join(format!("{}.lz", family.name));
        let recording = Recording {
            device: described.clone(),
            entries,
        };
        // Sweeps are large and do not stay.
        let level = if family.name == "sweeps" { 2 } else { 9 };
        recording.write(&file, level)?;
        let bytes = std::fs::metadata(&file)?.len();
        eprintln!(
            "; {bytes} bytes, {:.1} s and {:.1} s to compress",
            ran.as_secs_f64(),
            (start.elapsed() - ran).as_secs_f64()
        );
    }
    eprintln!("   ok {}", folder.display());
    Ok(ExitCode::SUCCESS)
}

fn differences(options: &Options) -> Result<ExitCode> {
    let device = Device::new(Choice::Simulator)?;
    let folder = folder(&options.dir, &device)?;
    let mut all_same = true;
    for family in chosen(options) {
        let file = folder.join(format!("{}.lz", family.name));
        if !file.is_file() {
            println!("{}: not recorded yet", family.name);
            continue;
        }
        let recording = Recording::read(&file)?;
        let outcome = compare(&device, &family, &recording, &options.only);
        for text in &outcome.wrong {
            println!("{text}");
        }
        for text in &outcome.refused {
            println!("refused: {text}");
        }
        for name in &outcome.stale {
            println!("not recorded as it is now: {name}");
        }
        for name in &outcome.unrecorded {
            println!("not recorded yet: {name}");
        }
        println!(
            "{}: {} programs and {} values as recorded on {}; {} differ, {} where the GPU deviates from the manual, {} are refused, {} are not recorded as they are now, {} not at all",
            family.name,
            outcome.same,
            outcome.values,
            recording.device,
            outcome.wrong.len(),
            outcome.deviating.len(),
            outcome.refused.len(),
            outcome.stale.len(),
            outcome.unrecorded.len()
        );
        all_same &= outcome.wrong.is_empty();
    }
    Ok(if all_same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn show(name: &str, family: &str) {
    let mut all = families();
    all.push(sweep::sweeps());
    all.retain(|other| other.name.contains(family));
    let programs = all.iter().flat_map(|family| &family.programs);
    let programs: Vec<&Program> = programs
        .filter(|program| program.name.contains(name))
        .collect();
    print!("{}", module(&programs));
}
