//! `cargo xtask simulator`: builds the drop-in `libcuda.so.1` and prints its folder. `libcuda.so` beside it is for linkers, and for
//! programs that load the driver by that name.

use crate::{cargo, workspace};
use anyhow::{Context, Result};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
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
    lay_down(&built.path, &folder)?;
    let folder = folder.canonicalize().unwrap_or(folder);
    eprintln!(
        "   ok point a program at it: LD_LIBRARY_PATH={} PROGRAM",
        folder.display()
    );
    println!("{}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Puts the library into a folder under both of its names.
fn lay_down(built: &Path, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("could not make the folder {}", folder.display()))?;
    const NAME: &str = "libcuda.so.1";
    replace(&folder.join(NAME), |partial| {
        std::fs::copy(built, partial).map(drop)
    })?;
    replace(&folder.join("libcuda.so"), |partial| symlink(NAME, partial))
}

/// Writes a file beside and renames it, so that a program starting meanwhile never finds half of it or none.
fn replace(path: &Path, write: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let outcome = write(&partial).and_then(|()| std::fs::rename(&partial, path));
    if outcome.is_err() {
        // Whatever was written of it is of no use; the error tells what went wrong.
        let _ = std::fs::remove_file(&partial);
    }
    outcome.with_context(|| format!("could not write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_has_both_names_and_can_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (built, into) = (folder.path().join("built"), folder.path().join("new/lib"));
        for text in ["first", "second"] {
            std::fs::write(&built, text).unwrap();
            lay_down(&built, &into).unwrap();
            for name in ["libcuda.so.1", "libcuda.so"] {
                assert_eq!(std::fs::read_to_string(into.join(name)).unwrap(), text);
            }
        }
        assert_eq!(std::fs::read_dir(&into).unwrap().count(), 2);
        assert!(lay_down(&folder.path().join("none"), &into).is_err());
        assert_eq!(std::fs::read_dir(&into).unwrap().count(), 2);
    }
}
