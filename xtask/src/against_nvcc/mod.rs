//! Our kernels beside nvcc's of the same names: registers, local memory, and the instructions of their innermost loops.

mod flow;
mod ptx;
mod sass;

use anyhow::{Context, Result, bail};
use comfy_table::{Table, presets};
use flow::{Instruction, Loop, innermost};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use warpsmith_builder::Arch;
use warpsmith_builder::nvcc::Nvcc;
use warpsmith_builder::ptxas::KernelUsage;

/// How many loops of a kernel the table shows.
const SHOWN: usize = 4;

/// One side of a pair.
struct Kernel {
    usage: KernelUsage,
    instructions: usize,
    machine: Vec<Loop>,
    ptx: Vec<Loop>,
}

/// What was found.
pub struct Comparison {
    pairs: Vec<(Kernel, Kernel)>,
    compiler: String,
}

/// Compares the kernels of `ptx` with those of the files in `twins` that have the same names. `bare` holds the same kernels with traps in the
/// place of panics: their loops are counted, among which those are not that write a message.
pub fn compare(ptx: &str, bare: &str, twins: &Path, arch: Arch) -> Result<Comparison> {
    let nvcc = Nvcc::find_or_fetch()?;
    let sources = sources(twins)?;
    let mut theirs = BTreeMap::new();
    for text in nvcc.ptx(&sources, arch)? {
        theirs.extend(kernels(&nvcc, &text, arch)?);
    }
    let mut pairs = Vec::new();
    let mut bare = kernels(&nvcc, bare, arch)?;
    for usage in nvcc.ptxas().report(ptx, arch)?.kernels {
        let both = (bare.remove(&usage.name), theirs.remove(&usage.name));
        if let (Some(ours), Some(twin)) = both {
            pairs.push((Kernel { usage, ..ours }, twin));
        }
    }
    if let Some(name) = theirs.keys().next() {
        bail!(
            "{} has a kernel `{name}`, of which there is none in Rust",
            twins.display()
        );
    }
    pairs.sort_by(|a, b| excess(b).total_cmp(&excess(a)));
    Ok(Comparison {
        pairs,
        compiler: nvcc.ptxas().version()?,
    })
}

/// The files of CUDA C++ in a folder.
fn sources(twins: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(twins).with_context(|| {
        format!(
            "cannot read {}: kernels in CUDA C++ stand there, to be compared with those in Rust of the same names",
            twins.display()
        )
    })?;
    let mut sources = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "cu") {
            sources.push(path);
        }
    }
    sources.sort();
    Ok(sources)
}

/// The kernels of some PTX, by their names.
fn kernels(nvcc: &Nvcc, text: &str, arch: Arch) -> Result<BTreeMap<String, Kernel>> {
    let report = nvcc.ptxas().report(text, arch)?;
    let machine = sass::functions(&nvcc.disassemble(&report.image)?);
    let entries = ptx::entries(text);
    let code = |all: &HashMap<String, Vec<Instruction>>, name: &str| -> Result<Vec<Instruction>> {
        all.get(name)
            .filter(|code| !code.is_empty())
            .cloned()
            .with_context(|| format!("the disassembly has no kernel `{name}`"))
    };
    report
        .kernels
        .into_iter()
        .map(|usage| {
            let name = usage.name.clone();
            let machine = code(&machine, &name)?;
            Ok((
                name.clone(),
                Kernel {
                    usage,
                    instructions: machine.len(),
                    machine: innermost(&machine),
                    ptx: innermost(&code(&entries, &name)?),
                },
            ))
        })
        .collect()
}

impl Kernel {
    /// Bytes of stack: arrays that are not in registers, and spills.
    fn local(&self) -> u32 {
        self.usage.stack
    }

    /// Instructions for each access to memory in the loop that has the fewest: where a loop is unrolled, its rounds share their costs.
    fn per_access(&self) -> Option<f64> {
        self.machine
            .iter()
            .filter(|one| one.memory > 0)
            .map(|one| one.instructions as f64 / one.memory as f64)
            .min_by(f64::total_cmp)
    }
}

/// Ours over nvcc's in instructions for each access to memory; of the whole kernel where one side has no such loop.
fn ratio((ours, theirs): &(Kernel, Kernel)) -> f64 {
    match (ours.per_access(), theirs.per_access()) {
        (Some(ours), Some(theirs)) => ours / theirs,
        _ => ours.instructions as f64 / theirs.instructions as f64,
    }
}

/// What the table is sorted by: local memory that nvcc does without, then the ratio of instructions, then registers.
fn excess(pair: &(Kernel, Kernel)) -> f64 {
    let (ours, theirs) = pair;
    let local = f64::from(ours.local().saturating_sub(theirs.local()).min(1));
    let registers = f64::from(ours.usage.registers) - f64::from(theirs.usage.registers);
    100.0 * local + ratio(pair) + registers.max(0.0) / 64.0
}

impl Comparison {
    /// A row for each pair, the worst first.
    pub fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_BORDERS_ONLY).set_header([
            "kernel",
            "registers",
            "local, B",
            "spills, B",
            "instructions",
            "loops, ours",
            "loops, nvcc",
            "PTX loops, ours",
            "PTX loops, nvcc",
            "ratio",
        ]);
        for pair in &self.pairs {
            let (ours, theirs) = pair;
            let both = |of: fn(&Kernel) -> usize| format!("{} / {}", of(ours), of(theirs));
            table.add_row([
                ours.usage.name.clone(),
                both(|kernel| kernel.usage.registers as usize),
                both(|kernel| kernel.local() as usize),
                both(|kernel| (kernel.usage.spill_stores + kernel.usage.spill_loads) as usize),
                both(|kernel| kernel.instructions),
                loops(&ours.machine),
                loops(&theirs.machine),
                loops(&ours.ptx),
                loops(&theirs.ptx),
                format!("{:.2}", ratio(pair)),
            ]);
        }
        table
    }

    /// What the table's numbers are.
    pub fn legend(&self) -> String {
        format!(
            "{} pairs, ours / nvcc's, both assembled by ptxas {}. Instructions and loops are those of kernels built with `--panic trap`, without \
             the code that writes messages. A loop is `instructions:accesses to memory`, innermost ones only; \
             the ratio is that of instructions for each access in the tightest loop, or of all instructions where a side has none.",
            self.pairs.len(),
            self.compiler
        )
    }
}

/// `34:8 9:2`; the longest ones where there are many.
fn loops(all: &[Loop]) -> String {
    let mut longest: Vec<&Loop> = all.iter().collect();
    longest.sort_by_key(|one| std::cmp::Reverse(one.instructions));
    let shown = longest.iter().take(SHOWN);
    let mut text: Vec<String> = shown
        .map(|one| format!("{}:{}", one.instructions, one.memory))
        .collect();
    if all.len() > SHOWN {
        text.push(format!("+{}", all.len() - SHOWN));
    }
    match text.is_empty() {
        true => "-".into(),
        false => text.join(" "),
    }
}
