//! `cargo xtask bundle DIR`: a relocatable folder to carry to a GPU machine that has no Rust.
//!
//! It holds the integration tests, the suite's program (kernels and benchmark, their PTX inside), the
//! CUDA C++ twins as source, the host library's benchmark, the recorder of arithmetic, and `run.sh test|run|bench|bench-host|record`.

use super::{record, setup};
use crate::{cargo, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The packages whose integration tests run on any device.
const TESTED: [&str; 4] = [
    "warpsmith-driver",
    "warpsmith-tests",
    "warpsmith-host",
    "warpsmith-suite",
];
/// The integration tests among them that need the source tree, a compiler or cargo's target folder, and so stay behind.
const NEED_THE_SOURCE: [&str; 3] = ["command", "compile_fail", "snapshots"];
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
        "   ok {}: carry it to the GPU machine and call ./run.sh test, run, bench, bench-host or record there",
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
    let suite = super::run::build_suite(&["--release"])?;
    install(&suite, &staging.join("suite"), keep_symbols)?;

    let recorder = record::build(&["--release"])?;
    install(&recorder, &staging.join("recorder"), keep_symbols)?;

    let cost = example("warpsmith-host", "cost")?;
    install(&cost, &staging.join("cost"), keep_symbols)?;

    let mut arguments = vec!["test", "--release", "--no-run", "--test", "*"];
    for package in TESTED {
        arguments.extend(["--package", package]);
    }
    let tests = staging.join("tests");
    fs::create_dir(&tests)?;
    let harnesses = cargo::build(&arguments)?;
    for harness in harnesses
        .iter()
        .filter(|built| built.is_test && !NEED_THE_SOURCE.contains(&built.name.as_str()))
    {
        let target = tests.join(format!("{}.{}", harness.package, harness.name));
        install(&harness.path, &target, keep_symbols)?;
    }

    let twins = staging.join("twins");
    fs::create_dir(&twins)?;
    for entry in fs::read_dir(workspace::root().join("kernels").join("twins"))? {
        let path = entry?.path();
        if path.is_file() {
            fs::copy(
                &path,
                twins.join(path.file_name().context("a twin has a name")?),
            )?;
        }
    }
    let run_sh = staging.join("run.sh");
    fs::write(&run_sh, RUN_SH)?;
    fs::set_permissions(&run_sh, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Builds a program that a package has as an example, and answers where it lies.
fn example(package: &str, name: &str) -> Result<PathBuf> {
    let arguments = [
        "build",
        "--release",
        "--package",
        package,
        "--example",
        name,
    ];
    cargo::build(&arguments)?
        .into_iter()
        .find(|executable| executable.name == name)
        .map(|executable| executable.path)
        .with_context(|| format!("cargo built `{name}` of `{package}` but named no program"))
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
