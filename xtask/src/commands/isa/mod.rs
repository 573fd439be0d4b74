//! `cargo xtask isa`: compares the instruction tables with ptxas.

mod cells;
mod comparison;
mod judge;
mod known;
mod since;
mod verdicts;

use anyhow::{Context, Result, bail};
use std::process::ExitCode;
use warpsmith_builder::ptxas::Ptxas;
use warpsmith_isa::sample::faults::{self, Sieve};
use warpsmith_isa::sample::{self, Reading, Sample};

use comparison::Comparison;
use verdicts::Verdicts;

/// The options of `cargo xtask isa`.
#[derive(clap::Args)]
pub struct Options {
    /// Have ptxas judge an example of each form and of each alternative of it, for every PTX version and architecture.
    #[arg(long)]
    check: bool,
    /// Check all faults, not a part of them that is always the same.
    #[arg(long, requires = "check")]
    all: bool,
    /// Print since when ptxas knows each of them: for who adds a form.
    #[arg(long)]
    since: bool,
}

/// Compares the tables with ptxas; fails where they differ.
pub fn run(options: &Options) -> Result<ExitCode> {
    if !options.check && !options.since {
        bail!("say what to do: `--check` or `--since`");
    }
    let ptxas =
        Ptxas::find().context("ptxas was not found: `cargo xtask setup --ptxas` fetches it")?;
    let samples = sample::all();
    let verdicts = Verdicts::ask(&ptxas, &texts(&samples), &cells::all()?)?;
    if options.since {
        since::print(&samples, &verdicts);
    }
    if !options.check {
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{} forms and alternatives, {} versions and architectures each",
        samples.len(),
        verdicts.cells.len()
    );
    let mut comparison = Comparison::of_instructions();
    comparison.add(&texts(&samples), &verdicts, |index, (version, target)| {
        samples[index].refusal(version, target)
    });
    add_pairs(&ptxas, &mut comparison)?;
    let mut faults = Comparison::of_faults(options.all);
    add_faults(&ptxas, &mut faults, options.all)?;
    let alike = [comparison.report(), faults.report()];
    Ok(if alike == [true; 2] {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Compares the verdicts on pairs of alternatives.
fn add_pairs(ptxas: &Ptxas, comparison: &mut Comparison) -> Result<()> {
    let pairs = sample::pairs();
    let statements: Vec<&str> = pairs.iter().map(String::as_str).collect();
    let readings: Vec<Reading<'_>> = statements.iter().map(|text| Reading::new(text)).collect();
    let verdicts = Verdicts::ask(ptxas, &statements, &cells::newest(cells::PAIRS)?)?;
    println!(
        "{} pairs of alternatives, {} of which no architecture has, for {}",
        pairs.len(),
        readings
            .iter()
            .filter(|reading| reading.is_refused())
            .count(),
        cells::PAIRS.join(", ")
    );
    comparison.add(&statements, &verdicts, |index, (version, target)| {
        readings[index].refusal(version, target)
    });
    Ok(())
}

/// One of how many faults in modifiers is checked unless all are.
const MODIFIERS: u64 = 24;

/// Compares the verdicts on instructions with a fault.
fn add_faults(ptxas: &Ptxas, comparison: &mut Comparison, all: bool) -> Result<()> {
    let part = |number| {
        if all {
            Sieve::ALL
        } else {
            Sieve::one_in(number)
        }
    };
    for (cell, statements) in faults::modifiers(part(MODIFIERS)) {
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        let readings: Vec<Reading<'_>> = statements.iter().map(|text| Reading::new(text)).collect();
        let verdicts = Verdicts::ask(ptxas, &statements, &[cell])?;
        println!(
            "{} instructions with changed modifiers, for {}",
            statements.len(),
            cell.1
        );
        comparison.add(&statements, &verdicts, |index, (version, target)| {
            readings[index].refusal(version, target)
        });
    }
    Ok(())
}

fn texts(samples: &[Sample]) -> Vec<&str> {
    samples.iter().map(|sample| sample.text.as_str()).collect()
}
