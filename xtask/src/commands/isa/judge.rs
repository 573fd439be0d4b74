//! ptxas as a judge of single instructions: which lines of a module it refuses, and why.

use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::process::Command;
use warpsmith_builder::ptxas::Ptxas;
use warpsmith_isa::sample::module;
use warpsmith_isa::{Features, PtxVersion, Target};

/// What ptxas says of each instruction that it refuses, by the instruction's number.
pub type Refusals = HashMap<usize, Vec<String>>;

/// Asks ptxas about each statement, in a module of this version and architecture.
pub fn refusals(
    ptxas: &Ptxas,
    version: PtxVersion,
    target: Target,
    statements: &[&str],
) -> Result<Refusals> {
    let mut statements = statements.to_vec();
    let (mut refusals, mut fatal) = (Refusals::new(), Vec::new());
    // Of some errors ptxas says no more than the first.
    while let Some((index, message)) = round(ptxas, version, target, &statements, &mut refusals)? {
        statements[index] = "";
        refusals.clear();
        fatal.push((index, message));
    }
    for (index, message) in fatal {
        refusals.entry(index).or_default().push(message);
    }
    Ok(refusals)
}

/// Runs ptxas once; a statement that stopped it, and why.
fn round(
    ptxas: &Ptxas,
    version: PtxVersion,
    target: Target,
    statements: &[&str],
    refusals: &mut Refusals,
) -> Result<Option<(usize, String)>> {
    // One error more than the statements have: ptxas then makes no code.
    let mut all = statements.to_vec();
    all.push("warpsmith_end;");
    let (text, before) = module(version, target, &all);
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("forms.ptx");
    std::fs::write(&input, text)?;
    // ptxas makes no code for what came before Turing, but reads PTX for it.
    let machine = if target.level < 75 {
        Target {
            level: 75,
            features: Features::Baseline,
        }
    } else {
        target
    };
    let output = Command::new(ptxas.path())
        .arg(format!("--gpu-name={machine}"))
        .arg(&input)
        .arg("--output-file")
        .arg(folder.path().join("forms.cubin"))
        .output()
        .context("ptxas could not be run")?;
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut stopped = None;
    for line in output.lines() {
        let Some((place, message)) = line.split_once("; ") else {
            continue;
        };
        let Some(number) = place
            .rsplit_once("line ")
            .and_then(|(_, number)| number.parse::<usize>().ok())
        else {
            continue;
        };
        let Some(index) = number
            .checked_sub(before + 1)
            .filter(|&index| index < statements.len())
        else {
            continue;
        };
        let Some((kind, message)) = message.split_once(':') else {
            continue;
        };
        let message = message.trim().to_owned();
        match kind.trim() {
            "fatal" => stopped = Some((index, message)),
            "error" => refusals.entry(index).or_default().push(message),
            _ => {}
        }
    }
    if output.contains("warpsmith_end") {
        return Ok(None);
    }
    match stopped {
        Some(stopped) => Ok(Some(stopped)),
        None => bail!(
            "ptxas did not read to the end of a module for {target}, version {version}:\n{output}"
        ),
    }
}
