//! Random programs of the host library: streams, events, buffers, graphs, captures, kernels and functions on the host that panic, dropped here,
//! dropped by other threads, and forgotten. Whatever the order in which streams get on, memory has what the program's text says, and each
//! wait tells the panics that it covers.

mod causes;
mod kernels;
mod program;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use warpsmith_testkit::Random;

use crate::choose::Choose;
use crate::isolated::Limits;
use crate::kind::Kind;
use crate::report::Report;
use program::Step;

/// Random programs of the host library.
pub const HOST: Kind = Kind {
    name: "host",
    summary: "programs of the host library, against a model of its memory and its panics",
    usual: Duration::from_secs(15),
    limits: Limits {
        processor: Duration::from_secs(60),
        time: Duration::from_secs(120),
        memory: 3 << 30,
    },
    environment: &[
        ("WARPSMITH_REPORT", "0"),
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_THREADS", "2"),
    ],
    reducible: true,
    round,
    replay,
};

/// Programs of a round.
const PROGRAMS: usize = 6;
/// Steps of a program.
const STEPS: usize = 250;

fn round(seed: u64, report: &mut Report) -> Result<()> {
    let mut random = Random::new(seed);
    for number in 0..PROGRAMS {
        let steps: Vec<Step> = (0..STEPS)
            .map(|_| match random.percent(30) {
                true => Step::Panicking(random.bits()),
                false => Step::Usual(random.bits()),
            })
            .collect();
        let mut text = String::new();
        for step in &steps {
            let _ = writeln!(text, "{step}");
        }
        let file = report.write(&number.to_string(), "txt", text.as_bytes())?;
        report.trying(&file);
        match program::perform(&steps) {
            Err(error) => report.found(&file, &format!("{error:#}")),
            Ok(()) => report.dismiss(&file)?,
        }
    }
    report.count("programs", PROGRAMS as u64);
    report.count("steps", (PROGRAMS * STEPS) as u64);
    Ok(())
}

fn replay(files: &[PathBuf], report: &mut Report) -> Result<()> {
    for file in files {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let steps = text
            .lines()
            .filter(|line| !line.starts_with("//"))
            .map(str::parse)
            .collect::<Result<Vec<Step>>>()
            .with_context(|| format!("{} is no list of steps", file.display()))?;
        report.trying(file);
        if let Err(error) = program::perform(&steps) {
            report.found(file, &format!("{error:#}"));
        }
    }
    report.count("cases", files.len() as u64);
    Ok(())
}
