//! Rounds of random programs of one thread, and their cases.

use std::path::PathBuf;

use anyhow::{Result, bail};
use warpsmith_builder::Arch;
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

use super::compare::{Input, TEMPLATE, compare};
use super::{INPUTS, program};
use crate::choose::Choose;
use crate::programs::case::Case;
use crate::programs::project::Settings;
use crate::programs::replay::{Failure, build_round, replay as replay_cases};
use crate::report::Report;

/// Programs of a project.
const PROGRAMS: usize = 30;
/// Inputs of a program: six warps.
const RUNS: usize = 192;
/// How many of the inputs that show a difference a case keeps.
const KEPT: usize = 3;

/// A project of random programs.
pub fn round(seed: u64, report: &mut Report) -> Result<()> {
    let mut random = Random::new(seed);
    let settings = Settings {
        arch: *random.one_of(&[Arch::Sm70, Arch::Sm80, Arch::Sm90]),
        overflow_checks: random.percent(30),
    };
    let programs: Vec<String> = (0..PROGRAMS)
        .map(|_| program(&mut random, settings.overflow_checks))
        .collect();
    let inputs: Vec<Input> = (0..RUNS)
        .map(|_| std::array::from_fn(|_| word(&mut random)))
        .collect();
    let case = |program: usize, chosen: &[usize]| Case {
        settings,
        inputs: chosen
            .iter()
            .map(|&number| inputs[number].to_vec())
            .collect(),
        source: programs[program].clone(),
    };
    let all: Vec<usize> = (0..RUNS).collect();
    let built = build_round(&TEMPLATE, &programs, settings, report, |program, why| {
        case(program, &all[..1]).text(&format!("seed {seed}: {why}"))
    })?;
    let Some(built) = built else {
        return Ok(());
    };
    let gpu = Gpu::open_default()?;
    let module = gpu.load(&built.ptx)?;
    let mut tried = 0;
    for program in 0..PROGRAMS {
        let name = program.to_string();
        let file = report.write(&name, "rs", case(program, &all).text("").as_bytes())?;
        report.trying(&file);
        tried += 1;
        if let Some(difference) = compare(&gpu, &module, &built, program, &inputs)? {
            let chosen = match difference.inputs.len() {
                0 => &all,
                _ => &difference.inputs,
            };
            let chosen = &chosen[..chosen.len().min(KEPT)];
            let why = &difference.why;
            let text = case(program, chosen).text(&format!("seed {seed}: {why}"));
            let file = report.write(&name, "rs", text.as_bytes())?;
            report.found(&file, why);
            if difference.lost {
                break;
            }
        } else {
            // What was only tried is of no use any more.
            let _ = std::fs::remove_file(&file);
        }
    }
    report.count("programs", tried);
    report.count("runs", tried * RUNS as u64);
    Ok(())
}

/// Tries cases again.
pub fn replay(files: &[PathBuf], report: &mut Report) -> Result<()> {
    replay_cases(
        &TEMPLATE,
        files,
        report,
        |gpu, module, built, program, case| {
            let difference = compare(gpu, module, built, program, &inputs_of(case)?)?;
            Ok(difference.map(|difference| Failure {
                why: difference.why,
                lost: difference.lost,
            }))
        },
    )
}

/// A case's inputs.
fn inputs_of(case: &Case) -> Result<Vec<Input>> {
    case.inputs
        .iter()
        .map(|words| match words.as_slice().try_into() {
            Ok(input) => Ok(input),
            Err(_) => bail!("an input has {} words instead of {INPUTS}", words.len()),
        })
        .collect()
}

/// A word of an input: small numbers, extremes, floats and any bits.
fn word(random: &mut Random) -> u64 {
    const SPECIAL: &[u64] = &[
        0,
        1,
        3,
        u64::MAX,
        1 << 63,
        1 << 31,
        0xffff_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x8000_0000,
        0x0000_0001,
        0x3f80_0000,
        0x4f00_0000,
        0xcf00_0000,
        0x3ff0_0000_0000_0000,
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x43e0_0000_0000_0000,
        0x000f_ffff_ffff_ffff,
        127,
        128,
        255,
        0x8000,
    ];
    let bits = random.bits();
    match random.index(5) {
        0 => *random.one_of(SPECIAL),
        1 => bits >> 60,
        2 => bits as i8 as u64,
        3 => (f64::from_bits(0x3ff0_0000_0000_0000 | bits >> 12) * 1000.0).to_bits(),
        _ => bits,
    }
}
