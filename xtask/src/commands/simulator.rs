//! `cargo xtask simulator`: builds the drop-in `libcuda.so.1` and prints its folder.

use crate::{cargo, workspace};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// The options of `cargo xtask simulator`.
#[derive(clap::Args)]
pub struct Options {
    /// Where to put the library; `target/simulator` where it is left out.
    #[arg(long)]
    into: Option<PathBuf>,
}

/// Builds the library, lays it down under the name that programs load, and prints its folder alone on stdout.
pub fn run(options: &Options) -> Result<ExitCode> {
    let built = cargo::build(&[
        "build",
        "--release",
        "--quiet",
        "--package",
        "warpsmith-simulator-dropin",
    ])?
    .into_iter()
    .find(|built| built.package == "warpsmith-simulator-dropin")
    .context("cargo built the drop-in but named no library")?;
    let folder = match &options.into {
        Some(folder) => folder.clone(),
        None => workspace::root().join("target").join("simulator"),
    };
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("could not make the folder {}", folder.display()))?;
    let library = folder.join("libcuda.so.1");
    // Written beside and renamed, so that a program starting meanwhile never loads half a library.
    let partial = folder.join(format!(".libcuda.so.1.{}", std::process::id()));
    std::fs::copy(&built.path, &partial)
        .and_then(|_| std::fs::rename(&partial, &library))
        .with_context(|| format!("could not write {}", library.display()))?;
    let folder = folder.canonicalize().unwrap_or(folder);
    eprintln!(
        "   ok point a program at it: LD_LIBRARY_PATH={} PROGRAM",
        folder.display()
    );
    println!("{}", folder.display());
    Ok(ExitCode::SUCCESS)
}
