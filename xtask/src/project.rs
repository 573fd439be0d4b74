//! A user's project: what cargo says of its packages, and the PTX that their build scripts make.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use warpsmith_builder::PTX_FILES;

/// A folder with kernels.
#[derive(Debug)]
pub enum Project {
    /// Build scripts compile its kernels.
    Scripted {
        /// The folder.
        folder: PathBuf,
    },
    /// It is a kernel crate, which others' build scripts compile.
    KernelCrate {
        /// The package's name.
        name: String,
        /// The folder.
        folder: PathBuf,
    },
}

/// PTX that a build script made.
pub struct BuiltPtx {
    /// A name: the package's, and the file's where the package has several.
    pub name: String,
    /// The text.
    pub ptx: String,
}

/// Finds out what is in a folder with a `Cargo.toml`.
pub fn find(folder: &Path) -> Result<Project> {
    let folder = folder
        .canonicalize()
        .with_context(|| format!("cannot find {}", folder.display()))?;
    let output = cargo(&folder)
        .args(["metadata", "--no-deps", "--format-version=1"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo cannot read the project in {}", folder.display());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let manifest = folder.join("Cargo.toml");
    let all = metadata["packages"].as_array().into_iter().flatten();
    let (own, others): (Vec<_>, Vec<_>) = all
        .partition(|package| package["manifest_path"].as_str().map(Path::new) == Some(&manifest));
    // In the root of a workspace without a package of its own, all of its packages are meant.
    let packages = if own.is_empty() { others } else { own };
    let depends = |package: &Value, on: &str, kind: Value| {
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        dependencies
            .filter(|dependency| dependency["kind"] == kind)
            .any(|dependency| dependency["name"] == on)
    };
    if packages
        .iter()
        .any(|package| depends(package, "warpsmith-builder", "build".into()))
    {
        return Ok(Project::Scripted { folder });
    }
    let kernel_crates = packages
        .iter()
        .find(|package| depends(package, "warpsmith-device", Value::Null));
    match kernel_crates {
        Some(package) => Ok(Project::KernelCrate {
            name: package["name"].as_str().unwrap_or_default().to_owned(),
            folder,
        }),
        None => bail!(
            "{} has no kernels: it neither depends on `warpsmith-device`, as a kernel crate does, nor has a build script with \
             `warpsmith-builder` among its build-dependencies, which compiles kernels; `cargo xtask new DIR` makes a project with both",
            folder.display()
        ),
    }
}

/// Runs the build scripts of the project in `folder`, as `cargo check` does, and reads the PTX that they have written.
pub fn run_build_scripts(folder: &Path) -> Result<Vec<BuiltPtx>> {
    let output = cargo(folder)
        .args(["check", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built = Vec::new();
    for message in messages.filter(|message| message["reason"] == "build-script-executed") {
        let variables = message["env"].as_array().into_iter().flatten();
        let files = variables
            .filter(|variable| variable[0] == PTX_FILES)
            .filter_map(|variable| variable[1].as_str());
        let files: Vec<&Path> = files
            .flat_map(|files| files.split('\t'))
            .map(Path::new)
            .collect();
        let package = package_name(message["package_id"].as_str().unwrap_or_default());
        for file in &files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            built.push(BuiltPtx {
                name: match files.len() {
                    1 => package.to_owned(),
                    _ => format!("{package}-{stem}"),
                },
                ptx: fs::read_to_string(file)
                    .with_context(|| format!("cannot read {}", file.display()))?,
            });
        }
    }
    // Errors of the host's code do not matter once the scripts have run.
    if built.is_empty() {
        if !output.status.success() {
            bail!("the kernels in {} do not compile", folder.display());
        }
        bail!(
            "the build scripts in {} write no PTX: call `CudaBuilder::for_module(..)` or `CudaBuilder::new(..)` with `.copy_to(..)`",
            folder.display()
        );
    }
    Ok(built)
}

/// `first` of `path+file:///tmp/first#0.1.0` or of `path+file:///tmp/folder#first@0.1.0`.
fn package_name(id: &str) -> &str {
    let (url, rest) = id.rsplit_once('#').unwrap_or((id, ""));
    match rest.split_once('@') {
        Some((name, _)) => name,
        None => url.rsplit('/').next().unwrap_or(url),
    }
}

/// cargo in the project's folder, of the project's own toolchain.
fn cargo(folder: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        // What rustup and cargo have set for this program is about this workspace.
        let is_ours = [
            "CARGO",
            "RUSTC",
            "RUSTDOC",
            "RUSTUP_TOOLCHAIN",
            "CUDA_LIBRARY_PATH",
        ]
        .contains(&text.as_ref())
            || text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_MANIFEST");
        if is_ours {
            command.env_remove(&name);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_packages() {
        assert_eq!(package_name("path+file:///tmp/first#0.1.0"), "first");
        assert_eq!(package_name("path+file:///tmp/x#first@0.1.0"), "first");
    }
}
