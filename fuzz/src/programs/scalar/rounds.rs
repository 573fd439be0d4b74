//! Rounds of random programs of one thread, and their cases.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use warpsmith_builder::Arch;
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

use super::compare::{Input, TEMPLATE, compare};
use super::{INPUTS, program};
use crate::choose::Choose;
use crate::programs::case::Case;
use crate::programs::project::{BuildFailure, Settings, build};
use crate::programs::replay::{alone, groups};
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
    let built = match build(&TEMPLATE, "round", &programs, settings) {
        Ok(built) => built,
        Err(BuildFailure::Device(_)) => {
            let failing = alone(&TEMPLATE, &programs, settings)?;
            for (program, why) in failing {
                let text = case(program, &all[..1]).text(&format!("seed {seed}: {why}"));
                let file = report.write(&program.to_string(), "rs", text.as_bytes())?;
                report.found(&file, &why);
            }
            return Ok(());
        }
        Err(failure) => return Err(failure).context("the generator wrote no program"),
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
        let module = gpu.load(&built.ptx)?;
        for (program, (file, case)) in group.cases.iter().enumerate() {
            report.trying(file);
            if let Some(difference) = compare(&gpu, &module, &built, program, &inputs_of(case)?)? {
                report.found(file, &difference.why);
                if difference.lost {
                    return Ok(());
                }
            }
        }
        report.count("cases", programs.len() as u64);
    }
    Ok(())
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
