//! `cargo xtask simulator`: builds the drop-in `libcuda.so.1` and `libnccl.so.2` and prints their folder. `libcuda.so` and `libnccl.so` beside
//! them are for linkers, and for programs that load the libraries by these names.

use crate::{cargo, workspace};
use anyhow::{Context, Result};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The options of `cargo xtask simulator`.
#[derive(clap::Args)]
pub struct Options {
    /// Where to put the libraries; `target/simulator` where it is left out.
    #[arg(long)]
    into: Option<PathBuf>,
}

/// The packages, and under which name programs load the library of each; linkers look for the same without the version.
const LIBRARIES: [(&str, &str); 2] = [
    ("warpsmith-simulator-dropin", "libcuda.so.1"),
    ("warpsmith-nccl-dropin", "libnccl.so.2"),
];

/// Builds the libraries, lays them down under the names that programs load, and prints their folder alone on stdout.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut arguments = vec!["build", "--release", "--quiet"];
    for (package, _) in LIBRARIES {
        arguments.extend(["--package", package]);
    }
    let built = cargo::build(&arguments)?;
    let folder = match &options.into {
        Some(folder) => folder.clone(),
        None => workspace::root().join("target").join("simulator"),
    };
    for (package, name) in LIBRARIES {
        let library = built
            .iter()
            .find(|built| built.package == package)
            .with_context(|| format!("cargo built {package} but named no library"))?;
        lay_down(&library.path, &folder, name)?;
    }
    let folder = folder.canonicalize().unwrap_or(folder);
    eprintln!(
        "   ok point a program at it: LD_LIBRARY_PATH={} PROGRAM",
        folder.display()
    );
    println!("{}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Puts a library into a folder under this name, and under the one without the version.
fn lay_down(built: &Path, folder: &Path, name: &str) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("could not make the folder {}", folder.display()))?;
    replace(&folder.join(name), |partial| {
        std::fs::copy(built, partial).map(drop)
    })?;
    let (unversioned, _) = name.rsplit_once('.').unwrap_or((name, ""));
    replace(&folder.join(unversioned), |partial| symlink(name, partial))
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
    fn each_library_has_both_names_and_can_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (built, into) = (folder.path().join("built"), folder.path().join("new/lib"));
        for text in ["first", "second"] {
            std::fs::write(&built, text).unwrap();
            for (_, name) in LIBRARIES {
                lay_down(&built, &into, name).unwrap();
            }
            for name in ["libcuda.so.1", "libcuda.so", "libnccl.so.2", "libnccl.so"] {
                assert_eq!(std::fs::read_to_string(into.join(name)).unwrap(), text);
            }
        }
        assert_eq!(std::fs::read_dir(&into).unwrap().count(), 4);
        assert!(lay_down(&folder.path().join("none"), &into, "libcuda.so.1").is_err());
        assert_eq!(std::fs::read_dir(&into).unwrap().count(), 4);
    }
}
