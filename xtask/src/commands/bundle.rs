//! `cargo xtask bundle DIR`: a relocatable folder to carry to a GPU machine that has no Rust.
//!
//! It holds the integration tests, also those of features, the programs of the suite and of the natural kernels (kernels and benchmark,
//! their PTX inside), the CUDA C++ twins as source, the host library's benchmark, the examples, the recorder of arithmetic, and
//! `run.sh test|run|bench|bench-natural|bench-host|example|record`.

use super::{record, run, setup, test};
use crate::cargo::{self, Executable};
use crate::{environment, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The packages whose integration tests run on any device.
const TESTED: [&str; 6] = [
    "warpsmith-driver",
    "warpsmith-tests",
    "warpsmith-host",
    "warpsmith-nccl",
    "warpsmith-suite",
    "warpsmith-natural-suite",
];
/// The integration tests among them that need the source tree, a compiler or cargo's target folder, and so stay behind.
const NEED_THE_SOURCE: [&str; 3] = ["command", "compile_fail", "snapshots"];
/// The packages whose examples run on any device.
const WITH_EXAMPLES: [&str; 4] = [
    "warpsmith-driver",
    "warpsmith-host",
    "warpsmith-nccl",
    "warpsmith-suite",
];
/// The packages that are an example, each a program.
const EXAMPLES: [&str; 2] = ["warpsmith-example-cudarc", "warpsmith-sgd"];
/// The two programs of the host library's benchmark, which are examples, each with the name that it has in the bundle.
const COSTS: [(&str, &str); 2] = [
    ("warpsmith-host.cost", "cost"),
    ("warpsmith-nccl.call_cost", "call_cost"),
];
/// The library by which the test of NVTX listens, and what it is made of. The test finds it by an environment variable, which `run.sh` sets.
const NVTX_TOOL: (&str, &str) = ("libnvtx_tool.so", "host/tests/nvtx/injection.rs");
const RUN_SH: &str = include_str!("../../templates/bundle-run.sh");

/// The options of `cargo xtask bundle`.
#[derive(clap::Args)]
pub struct Options {
    /// The folder to make; it must not exist yet, or be empty, or be an earlier bundle.
    dir: PathBuf,
    /// Keep symbols and line tables: larger, but a crash names lines.
    #[arg(long)]
    keep_symbols: bool,
}

/// Builds all that the bundle holds under a temporary name, then renames it.
pub fn run(options: &Options) -> Result<ExitCode> {
    refuse_foreign_folder(&options.dir)?;
    setup::prepare()?;
    let parent = match options.dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).with_context(|| format!("could not make {}", parent.display()))?;
    let staging = tempfile::Builder::new()
        .prefix(".bundle-")
        .tempdir_in(parent)
        .with_context(|| format!("could not write in {}", parent.display()))?;
    fill(staging.path(), options.keep_symbols)?;
    if options.dir.exists() {
        fs::remove_dir_all(&options.dir)
            .with_context(|| format!("could not replace {}", options.dir.display()))?;
    }
    let staging = staging.keep();
    fs::rename(&staging, &options.dir)
        .with_context(|| format!("could not make {}", options.dir.display()))?;
    fs::set_permissions(&options.dir, fs::Permissions::from_mode(0o755))?;
    eprintln!(
        "   ok {}: carry it to the GPU machine and call ./run.sh test, run, bench, bench-natural, bench-host, example or record there",
        options.dir.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Only a folder that this command made, or an empty one, is replaced.
fn refuse_foreign_folder(dir: &Path) -> Result<()> {
    let Ok(mut entries) = fs::read_dir(dir) else {
        if dir.exists() {
            bail!("{} is not a folder", dir.display());
        }
        return Ok(());
    };
    if entries.next().is_some() && !dir.join("run.sh").is_file() {
        bail!(
            "{} holds files that are not a bundle's: name a new or an empty folder",
            dir.display()
        );
    }
    Ok(())
}

/// Puts everything into `staging`.
fn fill(staging: &Path, keep_symbols: bool) -> Result<()> {
    let suite = run::SUITE.build(&["--release"])?;
    install(&suite, &staging.join("suite"), keep_symbols)?;
    let natural = run::NATURAL.build(&["--release"])?;
    install(&natural, &staging.join("natural"), keep_symbols)?;

    let recorder = record::build(&["--release"])?;
    install(&recorder, &staging.join("recorder"), keep_symbols)?;

    let examples = staging.join("examples");
    fs::create_dir(&examples)?;
    // One by one: examples of several packages have the same name, and so the same place in the target folder.
    for package in WITH_EXAMPLES {
        let arguments = ["build", "--release", "--examples", "--package", package];
        install_all(&arguments, &examples, keep_symbols, |_| true)?;
    }
    let mut arguments = vec!["build", "--release", "--bins"];
    for package in EXAMPLES {
        arguments.extend(["--package", package]);
    }
    install_all(&arguments, &examples, keep_symbols, |_| true)?;
    for (example, name) in COSTS {
        fs::rename(examples.join(example), staging.join(name))
            .with_context(|| format!("cargo built no example {example}"))?;
    }

    let tests = staging.join("tests");
    fs::create_dir(&tests)?;
    // A pattern of names would take in those that need a feature, which cargo refuses; this leaves them out.
    let mut arguments = vec!["test", "--release", "--no-run", "--tests"];
    for package in TESTED {
        arguments.extend(["--package", package]);
    }
    let runs_anywhere =
        |built: &Executable| built.is_test && !NEED_THE_SOURCE.contains(&built.name.as_str());
    install_all(&arguments, &tests, keep_symbols, runs_anywhere)?;
    let mut arguments = vec!["test", "--release", "--no-run"];
    arguments.extend(test::OF_FEATURES);
    install_all(&arguments, &tests, keep_symbols, runs_anywhere)?;
    let (tool, source) = NVTX_TOOL;
    build_library(&workspace::root().join(source), &staging.join(tool))?;

    let twins = staging.join("twins");
    copy_files(&workspace::root().join("kernels/twins"), &twins)?;
    let natural = workspace::root().join("kernels/natural/twins");
    copy_files(&natural, &twins.join("natural"))?;
    let run_sh = staging.join("run.sh");
    fs::write(&run_sh, RUN_SH)?;
    fs::set_permissions(&run_sh, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Copies the files of a folder into a new one.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if path.is_file() {
            let name = path.file_name().context("a file has a name")?;
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Builds with `arguments` (as after `cargo`) and copies the programs that `is_wanted` takes, each under the names of its package and its own.
fn install_all(
    arguments: &[&str],
    folder: &Path,
    keep_symbols: bool,
    is_wanted: impl Fn(&Executable) -> bool,
) -> Result<()> {
    for built in cargo::build(arguments)? {
        if is_wanted(&built) {
            let name = format!("{}.{}", built.package, built.name);
            install(&built.path, &folder.join(name), keep_symbols)?;
        }
    }
    Ok(())
}

/// Compiles a dynamic library of one file.
fn build_library(source: &Path, to: &Path) -> Result<()> {
    let mut rustc = Command::new(environment::rustc());
    rustc
        .args(["--edition", "2024", "--crate-type", "cdylib", "-O", "-o"])
        .args([to, source]);
    cargo::run_or_fail(&mut rustc)
}

/// Copies a program, stripped unless told otherwise.
fn install(from: &Path, to: &Path, keep_symbols: bool) -> Result<()> {
    fs::copy(from, to)
        .with_context(|| format!("could not copy {} to {}", from.display(), to.display()))?;
    if !keep_symbols {
        // Binutils come with the C linker; without them the bundle is only larger.
        match Command::new("strip").arg(to).status() {
            Ok(status) if status.success() => {}
            _ => eprintln!(
                "      `strip` did not shrink {}; it stays as it is",
                to.display()
            ),
        }
    }
    Ok(())
}
