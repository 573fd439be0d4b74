//! `cargo xtask bench build`: the builder's times, each beside its goal: of a small project, and of one with sixty kernels.
//!
//! The cache is a fresh temporary folder, so the first build has everything to do; the source of `core` alone is taken from
//! where it is, since fetching it measures the network.

mod sixty;

use crate::{environment, progress::Step, workspace};
use anyhow::{Context, Result};
use comfy_table::{Table, presets};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use warpsmith_builder::core_source;
use warpsmith_builder::toolchain::Toolchain;
use warpsmith_builder::{Arch, CudaBuilder};

const KERNELS: &str = r#"//! Kernels to be built.
#![no_std]
use warpsmith_device::prelude::*;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y += a * x;
    }
}

#[kernel(launch_bounds(256))]
pub fn block_sums(x: &[f32], mut sums: PerBlock<[f32]>) {
    let written = shared!([f32; 256]).write(x[thread::index()]).sync();
    if let Some(sum) = sums.leader() {
        *sum = written.iter().sum();
    }
}
"#;

/// Measures and prints the table.
pub fn run() -> Result<ExitCode> {
    if let Some(folder) = environment::bench_build_folder() {
        return build_in_this_process(&folder);
    }
    let work = tempfile::tempdir()?;
    let cache = work.path().join("cache");
    let toolchain = Toolchain::find()?;
    share_core_source(&toolchain, &cache)?;
    let small = [("src/lib.rs".to_owned(), KERNELS.to_owned())];
    let first = project(work.path(), "first", &small)?;
    let second = project(work.path(), "second", &small)?;
    let sixty = project(work.path(), "sixty", &sixty::files())?;

    let step = Step::begin("building");
    let mut rows = Vec::new();
    let mut measure = |what: &str, goal: f64, folder: &Path| -> Result<()> {
        step.now(what);
        rows.push((what.to_owned(), goal, build(folder, &cache)?));
        Ok(())
    };
    measure("first device build ever, `core` included", 60.0, &first)?;
    measure("another project's first", 10.0, &second)?;
    let file = first.join("src/lib.rs");
    fs::write(&file, KERNELS.replace("a * x", "a * x + 1.0"))?;
    measure("after an edit in one kernel", 2.0, &first)?;
    measure("nothing changed", 0.3, &first)?;
    measure("60 kernels, one heavy: the first", 15.0, &sixty)?;
    let edit = |from: &str, to: &str| -> Result<()> {
        let file = sixty.join(sixty::EDITED);
        let text = fs::read_to_string(&file)?;
        anyhow::ensure!(text.contains(from), "{} has no `{from}`", file.display());
        fs::write(&file, text.replacen(from, to, 1))?;
        Ok(())
    };
    edit(sixty::FACTOR, "let factor = 5;")?;
    measure("60 kernels: after an edit in one", 1.5, &sixty)?;
    edit("let factor = 5;", "\n    let factor = 7;")?;
    measure("60 kernels: after an edit that moves lines", 1.5, &sixty)?;
    edit(sixty::COMMENT, "// The thread's own element.")?;
    measure("60 kernels: after another comment", 0.5, &sixty)?;
    edit("\n/// ", "\n// One more line.\n/// ")?;
    measure("60 kernels: after a line of comment more", 0.5, &sixty)?;
    drop(step);

    let mut table = Table::new();
    table
        .load_style(presets::UTF8_BORDERS_ONLY)
        .set_header(["build", "seconds", "goal", ""]);
    let mut missed = false;
    for (what, goal, took) in rows {
        let took = took.as_secs_f64();
        missed |= took > goal;
        let verdict = if took <= goal { "held" } else { "MISSED" };
        table.add_row([
            what,
            format!("{took:.2}"),
            format!("{goal}"),
            verdict.to_owned(),
        ]);
    }
    println!("{table}");
    Ok(if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Links the source of `core` into the fresh cache, unless it is in the toolchain itself.
fn share_core_source(toolchain: &Toolchain, cache: &Path) -> Result<()> {
    let library = core_source::find_or_fetch(toolchain)?;
    if library.starts_with(&toolchain.sysroot) {
        return Ok(());
    }
    let kept = library.parent().context("`library` is in a folder")?;
    let name = kept
        .file_name()
        .context("the folder of `library` has a name")?;
    fs::create_dir_all(cache)?;
    std::os::unix::fs::symlink(kept, cache.join(name))?;
    Ok(())
}

/// A kernel crate of these files that depends on the device library.
fn project(work: &Path, name: &str, files: &[(String, String)]) -> Result<PathBuf> {
    let folder = work.join(name);
    fs::create_dir_all(folder.join("src"))?;
    for (path, text) in files {
        fs::write(folder.join(path), text)?;
    }
    let device = workspace::root().join("device");
    fs::write(
        folder.join("Cargo.toml"),
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nwarpsmith-device = {{ path = {device:?} }}\n"
        ),
    )?;
    // The lock file's making is not the builder's time.
    crate::cargo::run_or_fail(
        crate::cargo::command()
            .current_dir(&folder)
            .args(["fetch", "--quiet"]),
    )?;
    Ok(folder)
}

/// One build in a process of its own, as a `build.rs` would be, against the fresh cache.
fn build(folder: &Path, cache: &Path) -> Result<Duration> {
    let start = Instant::now();
    let status = Command::new(std::env::current_exe()?)
        .args(["bench", "build"])
        .env(environment::BENCH_BUILD_FOLDER, folder)
        .env(environment::CACHE, cache)
        .status()?;
    let took = start.elapsed();
    anyhow::ensure!(
        status.success(),
        "the build of {} failed: {status}",
        folder.display()
    );
    Ok(took)
}

fn build_in_this_process(folder: &Path) -> Result<ExitCode> {
    CudaBuilder::new(folder).arch(Arch::Sm90).build()?;
    Ok(ExitCode::SUCCESS)
}
