//! Compares the instruction tables and the simulator's front end with ptxas: `cargo xtask isa`.
//!
//! | module | what |
//! | --- | --- |
//! | `judge`, `verdicts` | ptxas as a judge, of single instructions and of many in many versions and architectures |
//! | `front_end` | the simulator's front end as a judge |
//! | `declarations` | declarations with something wrong; instructions with something wrong are made in `warpsmith-isa` |
//! | `comparison` | where two judges agree |
//! | `known` | the differences that stay, with their reasons |
//! | `cells` | the versions and architectures that ptxas is asked about |
//! | `since` | since when ptxas knows what |
//! | `parallel` | work on all cores |

mod cells;
mod comparison;
mod declarations;
mod front_end;
mod judge;
mod known;
mod parallel;
mod since;
mod verdicts;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use std::process::ExitCode;
use warpsmith_builder::ptxas::Ptxas;
use warpsmith_isa::sample::faults::{self, Faults, Sieve};
use warpsmith_isa::sample::{self, Sample};

use comparison::Comparison;
use verdicts::Verdicts;

/// Compares the instruction tables and the simulator's front end with ptxas.
#[derive(Parser)]
struct Options {
    /// Have ptxas judge forms, faults of instructions and faults of declarations.
    #[arg(long)]
    check: bool,
    /// Check all faults, not a part of them that is always the same.
    #[arg(long, requires = "check")]
    all: bool,
    /// Check this alone.
    #[arg(long, requires = "check")]
    only: Option<Part>,
    /// Print since when ptxas knows each form.
    #[arg(long)]
    since: bool,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// An example of each form, of each alternative of it, and of pairs of alternatives.
    Forms,
    /// Instructions with changed modifiers.
    Modifiers,
    /// Instructions with changed operands.
    Operands,
    /// Modules with changed declarations.
    Declarations,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    if !options.check && !options.since {
        bail!("say what to do: `--check` or `--since`");
    }
    let ptxas =
        Ptxas::find().context("ptxas was not found: `cargo xtask setup --ptxas` fetches it")?;
    if options.since {
        let samples = sample::all();
        let verdicts = Verdicts::ask(&ptxas, &texts(&samples), &cells::all()?)?;
        since::print(&samples, &verdicts);
        return Ok(ExitCode::SUCCESS);
    }
    let mut alike = true;
    for part in Part::value_variants() {
        if options.only.is_none_or(|only| only == *part) {
            alike &= part.compare(&ptxas, options.all)?.report();
        }
    }
    Ok(if alike {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Part {
    /// Compares this part: all faults, or always the same few of them.
    fn compare(self, ptxas: &Ptxas, all: bool) -> Result<Comparison> {
        let sieve = |number| match all {
            true => Sieve::ALL,
            false => Sieve::one_in(number),
        };
        Ok(match self {
            Part::Forms => {
                let mut comparison = Comparison::of_instructions();
                add_samples(ptxas, &mut comparison)?;
                add_pairs(ptxas, &mut comparison)?;
                comparison
            }
            Part::Modifiers => {
                let mut comparison = Comparison::of_faults(97.5, known::MODIFIERS, all);
                let faults = faults::modifiers(sieve(24));
                add_faults(ptxas, &mut comparison, "modifiers", faults)?;
                comparison
            }
            Part::Operands => {
                let mut comparison = Comparison::of_faults(95.0, known::OPERANDS, all);
                let faults = faults::operands(sieve(12));
                add_faults(ptxas, &mut comparison, "operands", faults)?;
                comparison
            }
            Part::Declarations => {
                let mut comparison = Comparison::of_faults(95.0, known::DECLARATIONS, all);
                let declarations = declarations::all(sieve(6));
                println!("{} modules with changed declarations", declarations.len());
                comparison.add_declarations(ptxas, &declarations)?;
                comparison
            }
        })
    }
}

/// Compares the verdicts on forms and alternatives.
fn add_samples(ptxas: &Ptxas, comparison: &mut Comparison) -> Result<()> {
    let samples = sample::all();
    let verdicts = Verdicts::ask(ptxas, &texts(&samples), &cells::all()?)?;
    println!(
        "{} forms and alternatives, {} versions and architectures each",
        samples.len(),
        verdicts.cells.len()
    );
    comparison.add_samples(&samples, &verdicts);
    Ok(())
}

/// Compares the verdicts on pairs of alternatives.
fn add_pairs(ptxas: &Ptxas, comparison: &mut Comparison) -> Result<()> {
    let pairs = sample::pairs();
    let statements: Vec<&str> = pairs.iter().map(String::as_str).collect();
    println!(
        "{} pairs of alternatives, for {}",
        pairs.len(),
        cells::PAIRS.join(", ")
    );
    for cell in cells::newest(cells::PAIRS)? {
        comparison.add_statements(ptxas, &statements, cell)?;
        comparison.mark_all(&statements, cell);
    }
    Ok(())
}

/// Compares the verdicts on instructions with a fault.
fn add_faults(
    ptxas: &Ptxas,
    comparison: &mut Comparison,
    what: &str,
    faults: Faults,
) -> Result<()> {
    for (cell, statements) in faults {
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        println!(
            "{} instructions with changed {what}, for {}",
            statements.len(),
            cell.1
        );
        comparison.add_statements(ptxas, &statements, cell)?;
    }
    Ok(())
}

fn texts(samples: &[Sample]) -> Vec<&str> {
    samples.iter().map(|sample| sample.text.as_str()).collect()
}
