//! `cargo xtask bench toolchains`: the reference kernels' PTX and registers by toolchain, into the book.
//!
//! Each toolchain builds them in a process of its own, since a process has one LLVM.

use crate::progress::Step;
use crate::toolchains::{self, Installed};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use warpsmith_builder::Arch;
use warpsmith_builder::ptxas::Ptxas;

/// The page that has the tables, between [`BEGIN`] and [`END`].
const PAGE: &str = "docs/src/reference/toolchains.md";
const BEGIN: &str = "<!-- begin: cargo xtask bench toolchains -->";
const END: &str = "<!-- end -->";

/// How the reference kernels are built: as the suite does, and as the builder does by itself.
const PANICS: [(&str, &str); 2] = [
    ("trap", "As the suite builds them: a panic is a trap"),
    (
        "message",
        "With the builder's defaults: a panic has a message",
    ),
];

/// The architecture.
const ARCH: Arch = Arch::Sm90;

/// What became of one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Usage {
    registers: u32,
    /// Bytes stored and loaded.
    spills: u32,
    /// Instructions of PTX.
    instructions: usize,
}

/// The kernels of one toolchain, by name.
type Column = BTreeMap<String, Usage>;

/// Builds the kernels with every toolchain that is installed, and writes the tables; fails where a kernel is worse than with the oldest.
pub fn run() -> Result<ExitCode> {
    let ptxas = Ptxas::find()
        .context("registers are ptxas' to say: `cargo xtask setup --ptxas` fetches it")?;
    let all = toolchains::all()?;
    let mut text = format!(
        "ptxas {}, {ARCH}. A cell holds registers a thread and instructions of PTX.\n",
        ptxas.version()?
    );
    let mut losses = Vec::new();
    for (panic, title) in PANICS {
        let columns = all
            .iter()
            .map(|installed| column(installed, panic, &ptxas))
            .collect::<Result<Vec<_>>>()?;
        write!(text, "\n{title}:\n\n{}", table(&all, &columns))?;
        for (installed, column) in all.iter().zip(&columns).skip(1) {
            let found = worse(&columns[0], column);
            losses.extend(
                found
                    .into_iter()
                    .map(|loss| format!("{}, {panic}: {loss}", installed.name)),
            );
        }
    }
    replace(&workspace::root().join(PAGE), &text)?;
    println!("{text}");
    if losses.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!(
        "worse than with {}:\n  {}",
        all[0].name,
        losses.join("\n  ")
    )
}

/// Builds the kernels with one toolchain and has ptxas compile them.
fn column(installed: &Installed, panic: &str, ptxas: &Ptxas) -> Result<Column> {
    let step = Step::begin(format!("{} with panic {panic}", installed.name));
    let out = tempfile::tempdir()?;
    let mut build = Command::new(std::env::current_exe()?);
    build
        .args([
            "build-ptx",
            "--package",
            "warpsmith-kernels",
            "--panic",
            panic,
        ])
        .args(["--arch", ARCH.name(), "--out"])
        .arg(out.path())
        .env("RUSTC", &installed.toolchain.rustc)
        .env("RUSTUP_TOOLCHAIN", &installed.name);
    let output = build.output().context("could not start xtask")?;
    if !output.status.success() {
        bail!(
            "the kernels do not build with {}:\n{}",
            installed.name,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let file = out.path().join(format!("warpsmith-kernels.{ARCH}.ptx"));
    let ptx = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let column = ptxas
        .check(&ptx, ARCH)?
        .into_iter()
        .map(|usage| {
            let kernel = Usage {
                registers: usage.registers,
                spills: usage.spill_stores + usage.spill_loads,
                instructions: instructions(&ptx, &usage.name),
            };
            (usage.name, kernel)
        })
        .collect();
    step.finish("done");
    Ok(column)
}

/// How many instructions a kernel's own body has.
fn instructions(ptx: &str, kernel: &str) -> usize {
    let body = ptx
        .split_once(&format!(".entry {kernel}("))
        .and_then(|(_, rest)| rest.split_once("\n{"))
        .and_then(|(_, rest)| rest.split_once("\n}"))
        .map_or("", |(body, _)| body);
    body.lines()
        .map(str::trim)
        .filter(|line| line.ends_with(';') && !line.starts_with('.'))
        .count()
}

/// A table with a row for each kernel and a column for each toolchain.
fn table(all: &[Installed], columns: &[Column]) -> String {
    let mut text = String::from("| kernel |");
    for installed in all {
        let toolchain = &installed.toolchain;
        let _ = write!(
            text,
            " {} (LLVM {}) |",
            toolchain.release, toolchain.llvm_version
        );
    }
    text += "\n| --- |";
    text += &" --- |".repeat(all.len());
    text.push('\n');
    for name in columns[0].keys() {
        let _ = write!(text, "| {name} |");
        for column in columns {
            let cell = column.get(name).map_or("absent".to_owned(), |usage| {
                let spills = match usage.spills {
                    0 => String::new(),
                    bytes => format!(", {bytes} B spilled"),
                };
                format!("{}, {}{spills}", usage.registers, usage.instructions)
            });
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text
}

/// Where a kernel spills more, or has more than 5 % more registers, in the units that a GPU gives them out in.
fn worse(first: &Column, other: &Column) -> Vec<String> {
    // A warp gets registers in units of 256: eight a thread.
    let given = |usage: &Usage| usage.registers.next_multiple_of(8);
    let mut found = Vec::new();
    for (name, before) in first {
        match other.get(name) {
            None => found.push(format!("{name} is absent")),
            Some(now) if now.spills > before.spills => {
                found.push(format!(
                    "{name} spills {} B, not {} B",
                    now.spills, before.spills
                ));
            }
            Some(now) if given(now) * 100 > given(before) * 105 => {
                found.push(format!(
                    "{name} has {} registers, not {}",
                    now.registers, before.registers
                ));
            }
            Some(_) => {}
        }
    }
    found
}

/// Replaces what stands between the marks of the page.
fn replace(page: &Path, text: &str) -> Result<()> {
    let old = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let (before, rest) = old
        .split_once(BEGIN)
        .context("the page has no first mark")?;
    let (_, after) = rest
        .split_once(END)
        .context("the page has no second mark")?;
    fs::write(page, format!("{before}{BEGIN}\n\n{text}\n{END}{after}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(registers: u32, spills: u32) -> Column {
        let usage = Usage {
            registers,
            spills,
            instructions: 10,
        };
        [("k".to_owned(), usage)].into()
    }

    #[test]
    fn a_loss_is_a_spill_or_more_registers_than_a_gpu_gives_out() {
        let worse = |now: Column| worse(&column(22, 0), &now);
        assert_eq!(worse(column(24, 0)), [""; 0], "both get 24");
        assert_eq!(worse(column(25, 0)), ["k has 25 registers, not 22"]);
        assert_eq!(worse(column(20, 8)), ["k spills 8 B, not 0 B"]);
        assert_eq!(worse(Column::new()), ["k is absent"]);
    }

    #[test]
    fn instructions_are_lines_that_do_something() {
        let ptx = ".visible .entry k(\n.param .u64 p\n)\n{\n\t.reg .b32 %r<3>;\n$L_1:\n\tadd.s32 %r1, %r2, 1;\n\t@%p1 bra $L_1;\n\tret;\n\n}\n";
        assert_eq!(instructions(ptx, "k"), 3);
        assert_eq!(instructions(ptx, "j"), 0);
    }
}
