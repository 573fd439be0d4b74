//! Rounds of random programs of warps, and their cases.

use std::path::PathBuf;

use anyhow::{Context, Result};
use warpsmith_builder::Arch;
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

use super::compare::{Input, TEMPLATE, compare};
use super::program;
use crate::choose::Choose;
use crate::programs::case::Case;
use crate::programs::project::{BuildFailure, Settings, build};
use crate::programs::replay::{alone, groups};
use crate::report::Report;

/// Programs of a project.
const PROGRAMS: usize = 12;

/// A project of random programs.
pub fn round(seed: u64, report: &mut Report) -> Result<()> {
    let mut random = Random::new(seed);
    let settings = Settings {
        arch: *random.one_of(&[Arch::Sm70, Arch::Sm80, Arch::Sm90]),
        overflow_checks: false,
    };
    let programs: Vec<String> = (0..PROGRAMS).map(|_| program(&mut random)).collect();
    let inputs: Vec<Input> = [32, 96, 33 + random.below(63)]
        .map(|threads| Input {
            uniform: std::array::from_fn(|_| random.bits() as u32),
            threads,
            seed: random.bits() as u32,
        })
        .to_vec();
    let case = |program: usize, inputs: &[Input]| Case {
        settings,
        inputs: inputs.iter().map(Input::words).collect(),
        source: programs[program].clone(),
    };
    let built = match build(&TEMPLATE, "round", &programs, settings) {
        Ok(built) => built,
        Err(BuildFailure::Device(_)) => {
            for (program, why) in alone(&TEMPLATE, &programs, settings)? {
                let text = case(program, &inputs[..1]).text(&format!("seed {seed}: {why}"));
                let file = report.write(&program.to_string(), "rs", text.as_bytes())?;
                report.found(&file, &why);
            }
            return Ok(());
        }
        Err(failure) => return Err(failure).context("the generator wrote no program"),
    };
    let gpu = Gpu::open_default()?;
    let (module, stream) = (gpu.load(&built.ptx)?, gpu.stream()?);
    let mut tried = 0;
    'programs: for program in 0..PROGRAMS {
        let name = program.to_string();
        let file = report.write(&name, "rs", case(program, &inputs).text("").as_bytes())?;
        report.trying(&file);
        tried += 1;
        for input in &inputs {
            if let Some(difference) = compare(&stream, &module, &built, program, input)? {
                let why = &difference.why;
                let text = case(program, &[*input]).text(&format!("seed {seed}: {why}"));
                let file = report.write(&name, "rs", text.as_bytes())?;
                report.found(&file, why);
                if difference.lost {
                    break 'programs;
                }
                continue 'programs;
            }
        }
        // What was only tried is of no use any more.
        let _ = std::fs::remove_file(&file);
    }
    report.count("programs", tried);
    report.count("runs", tried * inputs.len() as u64);
    Ok(())
}

/// Tries cases again.
pub fn replay(files: &[PathBuf], report: &mut Report) -> Result<()> {
    for group in groups(files)? {
        let programs = group.programs();
        let built = match build(&TEMPLATE, "cases", &programs, group.settings) {
            Ok(built) => built,
            Err(BuildFailure::Device(_)) => {
                for (program, why) in alone(&TEMPLATE, &programs, group.settings)? {
                    report.found(&group.cases[program].0, &why);
                }
                continue;
            }
            Err(failure) => return Err(failure.into()),
        };
        let gpu = Gpu::open_default()?;
        let (module, stream) = (gpu.load(&built.ptx)?, gpu.stream()?);
        for (program, (file, case)) in group.cases.iter().enumerate() {
            report.trying(file);
            for words in &case.inputs {
                let input = Input::from_words(words)?;
                if let Some(difference) = compare(&stream, &module, &built, program, &input)? {
                    report.found(file, &difference.why);
                    if difference.lost {
                        return Ok(());
                    }
                    break;
                }
            }
        }
        report.count("cases", programs.len() as u64);
    }
    Ok(())
}
