//! Rounds of random programs of warps, and their cases.

use std::path::PathBuf;

use anyhow::Result;
use warpsmith_builder::Arch;
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

use super::compare::{Input, TEMPLATE, compare};
use super::program;
use crate::choose::Choose;
use crate::programs::case::Case;
use crate::programs::project::Settings;
use crate::programs::replay::{build_round, replay as replay_cases};
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
    let built = build_round(&TEMPLATE, &programs, settings, report, |program, why| {
        case(program, &inputs[..1]).text(&format!("seed {seed}: {why}"))
    })?;
    let Some(built) = built else {
        return Ok(());
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
    replay_cases(
        &TEMPLATE,
        files,
        report,
        |gpu, module, built, program, case| {
            let stream = gpu.stream()?;
            for words in &case.inputs {
                let input = Input::from_words(words)?;
                let difference = compare(&stream, module, built, program, &input)?;
                if difference.is_some() {
                    return Ok(difference);
                }
            }
            Ok(None)
        },
    )
}
