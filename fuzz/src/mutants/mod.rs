//! Mutants of the reference kernels: a barrier, a wait or a store less, a wrong address, lane or bound. Each must be caught, by the
//! simulator's checks or by the case's oracle, unless it does what the kernel does.

mod equivalent;
mod operators;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use warpsmith_host::prelude::*;
use warpsmith_signature::Reading;
use warpsmith_suite::{Case, Session, cases};
use warpsmith_testkit::Random;

use crate::isolated::Limits;
use crate::kind::Kind;
use crate::report::Report;
use equivalent::is_equivalent;
use operators::{OPERATORS, Operator};

/// Mutants of the reference kernels.
pub const MUTANTS: Kind = Kind {
    name: "mutants",
    summary: "spoilt reference kernels, which the checks or the oracles must catch",
    usual: Duration::from_secs(15),
    limits: Limits {
        processor: Duration::from_secs(120),
        time: Duration::from_secs(600),
        memory: 6 << 30,
    },
    environment: &[
        ("WARPSMITH_REPORT", "0"),
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_PATIENCE", "1"),
    ],
    reducible: false,
    round,
    replay,
};

/// Mutants of a round.
const ROUND: usize = 12;

/// Lines between the parts of one operation, at most.
const NEAR: usize = 12;

/// The seeds of the orders in which a mutant's warps run: the plain one, in which a missing barrier may change nothing, and others.
const ORDERS: [u32; 4] = [0, 1, 2, 3];

/// A line of a kernel, spoilt, with those that belong to it.
struct Mutant {
    kernel: String,
    operator: &'static Operator,
    /// The lines' numbers in the suite's PTX, from 0, the first one first.
    lines: Vec<usize>,
    /// The first line, trimmed.
    text: String,
    /// Which of the kernel's lines with this text it is, from 0.
    occurrence: usize,
    /// Which of the kernel's mutants by this operator that have this instruction, from 0.
    number: usize,
}

impl Mutant {
    /// As a case: what finds the line again in PTX of another compiler.
    fn case(&self) -> String {
        format!(
            "kernel {}\noperator {}\noccurrence {}\nline {}\n",
            self.kernel, self.operator.name, self.occurrence, self.text
        )
    }

    /// The instruction's name, with its modifiers.
    fn instruction(&self) -> &str {
        let instruction = operators::instruction(&self.text);
        instruction.split_whitespace().next().unwrap_or_default()
    }

    fn ptx(&self) -> Option<String> {
        let mut lines: Vec<String> = warpsmith_suite::PTX.lines().map(str::to_owned).collect();
        for &line in &self.lines {
            lines[line] = (self.operator.apply)(&lines[line])?;
        }
        Some(lines.join("\n"))
    }
}

/// The mutants of all kernels that a case runs.
fn all() -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let mut kernel: Option<&str> = None;
    let mut seen: Vec<&str> = Vec::new();
    for (number, line) in warpsmith_suite::PTX.lines().enumerate() {
        if let Some(rest) = line.strip_prefix(".visible .entry ") {
            let name = rest.trim_end_matches('(');
            kernel = case_of(name).is_some().then_some(name);
            seen.clear();
        }
        let Some(kernel) = kernel else { continue };
        let text = line.trim();
        let occurrence = seen.iter().filter(|other| **other == text).count();
        seen.push(text);
        for operator in OPERATORS {
            if (operator.apply)(line).is_none() {
                continue;
            }
            let near = |mutant: &&mut Mutant| {
                mutant.operator.name == operator.name
                    && mutant.lines[0] + NEAR >= number
                    && (operator.joins)(&mutant.text, text)
            };
            if let Some(mutant) = mutants.iter_mut().rev().take(NEAR).find(near) {
                mutant.lines.push(number);
                continue;
            }
            let mut mutant = Mutant {
                kernel: kernel.to_owned(),
                operator,
                lines: vec![number],
                text: text.to_owned(),
                occurrence,
                number: 0,
            };
            let alike = |other: &&Mutant| {
                other.operator.name == operator.name && other.instruction() == mutant.instruction()
            };
            let of_kernel = mutants.iter().rev().take_while(|m| m.kernel == kernel);
            mutant.number = of_kernel.filter(alike).count();
            mutants.push(mutant);
        }
    }
    mutants
}

/// The case that runs a kernel.
fn case_of(kernel: &str) -> Option<&'static Case> {
    cases().iter().find(|case| case.entries.contains(&kernel))
}

/// How a mutant was caught.
enum Caught {
    /// The launch, or a wait for it, answers an error.
    Checks,
    /// The result is wrong.
    Oracle,
}

/// Runs the case of a kernel at its sizes, with this PTX in place of the suite's, until one catches it.
fn catch(ptx: &str, kernel: &str, seed: u64) -> Result<Option<Caught>> {
    let Reading::Signed(signature) = warpsmith_signature::read(warpsmith_suite::PTX) else {
        bail!("the suite's PTX has no signature");
    };
    // SAFETY: the parameters are still those that the signature says. What the kernel does is another matter: it runs on the simulator
    // alone, where no access leaves the memory that is there for kernels.
    let ptx = unsafe { warpsmith_signature::sign(ptx, &signature) };
    let case = case_of(kernel).context("a case runs the kernel")?;
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let mut session = Session::new(&gpu)?;
    session.module = gpu.load(&ptx)?;
    // Large sizes first: they reach more of the kernel.
    // A loop of a graph whose condition is spoilt may never end.
    configure("iterations", "10000")?;
    for &size in case.ragged.iter().rev().chain([&case.simulator_size]) {
        for order in ORDERS {
            configure("seed", &order.to_string())?;
            match case.run(&session, Some(size), seed, &mut |_| ()) {
                Err(_) => return Ok(Some(Caught::Checks)),
                Ok(outcome) if outcome.verified.is_err() => return Ok(Some(Caught::Oracle)),
                Ok(_) => {}
            }
        }
    }
    Ok(None)
}

fn configure(setting: &str, value: &str) -> Result<()> {
    ensure!(
        warpsmith_driver::configure_simulator(setting, value),
        "the simulator does not take {setting} {value}"
    );
    Ok(())
}

fn round(seed: u64, report: &mut Report) -> Result<()> {
    let mut random = Random::new(seed);
    let mut mutants = all();
    mutants.retain(|mutant| !is_equivalent(mutant));
    let mut left = ROUND;
    while left > 0 {
        // An operator first: addresses are many.
        let operator = random.index(OPERATORS.len());
        let fitting: Vec<usize> = (0..mutants.len())
            .filter(|&mutant| mutants[mutant].operator.name == OPERATORS[operator].name)
            .collect();
        if fitting.is_empty() {
            continue;
        }
        left -= 1;
        let mutant = mutants.swap_remove(fitting[random.index(fitting.len())]);
        try_mutant(&mutant, seed, report)?;
        if left == 0 {
            control(&mutant.kernel, seed)?;
        }
    }
    Ok(())
}

/// The kernel as it is must not be caught, even after all those that were.
fn control(kernel: &str, seed: u64) -> Result<()> {
    match catch(warpsmith_suite::PTX, kernel, seed)? {
        None => Ok(()),
        Some(_) => bail!("the kernel {kernel} is caught although nothing was done to it"),
    }
}

fn try_mutant(mutant: &Mutant, seed: u64, report: &mut Report) -> Result<()> {
    let name = format!("{}_{}", mutant.kernel, mutant.lines[0]);
    let file = report.write(&name, "txt", mutant.case().as_bytes())?;
    report.trying(&file);
    let ptx = mutant.ptx().context("the operator applies to the line")?;
    match catch(&ptx, &mutant.kernel, seed)? {
        Some(Caught::Checks) => report.count("caught by the checks", 1),
        Some(Caught::Oracle) => report.count("caught by the oracles", 1),
        None if mutant.operator.is_demanded => {
            report.found(&file, "the mutant is not caught");
            return Ok(());
        }
        None => {
            let (kernel, operator) = (&mutant.kernel, mutant.operator.name);
            report.count(
                &format!("not caught ({operator} in {kernel}: `{}`)", mutant.text),
                1,
            );
        }
    }
    report.dismiss(&file)
}

fn replay(files: &[PathBuf], report: &mut Report) -> Result<()> {
    let (mutants, mut found) = (all(), 0);
    for file in files {
        let case = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        report.trying(file);
        // Where the compiler writes other PTX, there may be no such line.
        let Some(mutant) = mutants.iter().find(|mutant| mutant.case() == case) else {
            continue;
        };
        found += 1;
        let ptx = mutant.ptx().context("the operator applies to the line")?;
        if catch(&ptx, &mutant.kernel, 1)?.is_none() {
            report.found(file, "the mutant is not caught");
        } else {
            control(&mutant.kernel, 1)?;
        }
    }
    ensure!(
        files.is_empty() || found > 0,
        "the suite's PTX has none of the lines that the cases name"
    );
    report.count("cases", files.len() as u64);
    Ok(())
}
