//! ptxas as a judge of single instructions, which lines of a module it refuses, and of whole modules.

use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::process::{Command, Output};
use warpsmith_builder::ptxas::Ptxas;
use warpsmith_isa::sample::module;
use warpsmith_isa::{Features, PtxVersion, Target};

/// What ptxas says of each instruction that it refuses, by the instruction's number.
pub type Refusals = HashMap<usize, Vec<String>>;

/// What is said of a statement or module at which ptxas broke off without a word.
pub const CRASHED: &str = "ptxas crashed";

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
    loop {
        match round(ptxas, version, target, &statements, &mut refusals)? {
            End::Reached => break,
            End::Stopped(index, message) => {
                statements[index] = "";
                refusals.clear();
                fatal.push((index, message));
            }
            End::Crashed if statements.len() == 1 => {
                refusals.insert(0, vec![CRASHED.to_owned()]);
                break;
            }
            // One of them is to blame, which it does not say.
            End::Crashed => {
                let (first, second) = statements.split_at(statements.len() / 2);
                refusals = self::refusals(ptxas, version, target, first)?;
                for (index, said) in self::refusals(ptxas, version, target, second)? {
                    refusals.insert(first.len() + index, said);
                }
                break;
            }
        }
    }
    for (index, message) in fatal {
        refusals.entry(index).or_default().push(message);
    }
    Ok(refusals)
}

/// What ptxas says of a statement that stands alone, which it refuses; of one that it takes, nothing.
///
/// What it looks at last, it does not look at in a module that it refuses for another statement. Nothing either where it breaks off: it may
/// make code without end of what has no meaning.
pub fn refusal_alone(
    ptxas: &Ptxas,
    version: PtxVersion,
    target: Target,
    statement: &str,
) -> Result<Vec<String>> {
    let (text, _) = module(version, target, &[statement]);
    let mut said = module_refusal(ptxas, machine(target), &text)?;
    said.retain(|sentence| sentence != CRASHED);
    Ok(said)
}

/// What ptxas says of a module that it refuses, which it compiles for the newest architecture of this level; of one that it takes,
/// nothing.
pub fn module_refusal(ptxas: &Ptxas, machine: Target, text: &str) -> Result<Vec<String>> {
    let output = compile(ptxas, machine, text)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let mut sentences: Vec<String> = said
        .lines()
        .filter_map(|line| {
            let (place, message) = line.split_once(':')?;
            let place = place.trim();
            let is_last = message.contains("Ptx assembly aborted");
            (!is_last && (place.ends_with("error") || place.ends_with("fatal")))
                .then(|| without_file_name(message.trim()))
        })
        .collect();
    if output.status.success() {
        return Ok(Vec::new());
    }
    if sentences.is_empty() {
        sentences.push(CRASHED.to_owned());
    }
    Ok(sentences)
}

/// What ptxas says of the start of a file, whose name says nothing of the module.
fn without_file_name(message: &str) -> String {
    const START: &str = " at start of file";
    match message.split_once(START) {
        Some((before, _)) => format!("{before}{START}"),
        None => message.to_owned(),
    }
}

/// What ptxas makes code for: for nothing before Turing, though it reads PTX for it.
fn machine(target: Target) -> Target {
    if target.level < 75 {
        Target {
            level: 75,
            features: Features::Baseline,
        }
    } else {
        target
    }
}

/// What a run of ptxas may take, for the shell's `ulimit`: seconds of processor time, and 4 GiB of addresses.
const LIMITS: &str = "ulimit -t 60 && ulimit -v 4194304 && exec \"$0\" \"$@\"";

/// Runs ptxas over a module.
fn compile(ptxas: &Ptxas, machine: Target, text: &str) -> Result<Output> {
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("module.ptx");
    std::fs::write(&input, text)?;
    Command::new("sh")
        .args(["-c", LIMITS])
        .arg(ptxas.path())
        .arg(format!("--gpu-name={machine}"))
        .arg(&input)
        .arg("--output-file")
        .arg(folder.path().join("module.cubin"))
        .output()
        .context("ptxas could not be run")
}

/// How a run of ptxas ended.
enum End {
    /// It read all statements.
    Reached,
    /// One of them stopped it, and why.
    Stopped(usize, String),
    /// It broke off without a word.
    Crashed,
}

/// Runs ptxas once.
fn round(
    ptxas: &Ptxas,
    version: PtxVersion,
    target: Target,
    statements: &[&str],
    refusals: &mut Refusals,
) -> Result<End> {
    // One error more than the statements have: ptxas then makes no code.
    let mut all = statements.to_vec();
    all.push("warpsmith_end;");
    let (text, before) = module(version, target, &all);
    let output = compile(ptxas, machine(target), &text)?;
    let crashed = output.status.code().is_none();
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
        return Ok(End::Reached);
    }
    match stopped {
        Some((index, message)) => Ok(End::Stopped(index, message)),
        None if crashed => Ok(End::Crashed),
        None => bail!(
            "ptxas did not read to the end of a module for {target}, version {version}:\n{}",
            output.lines().last().unwrap_or("it said nothing")
        ),
    }
}
