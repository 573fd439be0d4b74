//! `cargo xtask new DIR`: makes a user's project, one package whose kernels stand in `src/kernels.rs`, with a program and a test
//! that launch them. It pins no toolchain.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The project's files: where each goes, and its text with `{{...}}` to fill in.
const FILES: [(&str, &str); 9] = [
    (
        "Cargo.toml",
        include_str!("../../templates/project/Cargo.toml.in"),
    ),
    (
        "build.rs",
        include_str!("../../templates/project/build.rs.in"),
    ),
    (
        "README.md",
        include_str!("../../templates/project/README.md.in"),
    ),
    (
        "src/lib.rs",
        include_str!("../../templates/project/lib.rs.in"),
    ),
    (
        "src/kernels.rs",
        include_str!("../../templates/project/kernels.rs.in"),
    ),
    (
        "src/main.rs",
        include_str!("../../templates/project/main.rs.in"),
    ),
    (
        ".cargo/config.toml",
        include_str!("../../templates/project/config.toml.in"),
    ),
    (
        "tests/kernels.rs",
        include_str!("../../templates/project/tests.rs.in"),
    ),
    (".gitignore", "/target/\n"),
];

/// The options of `cargo xtask new`.
#[derive(clap::Args)]
pub struct Options {
    /// The folder to make; its last part names the package.
    dir: PathBuf,
    /// The package's name, where it shall not be the folder's.
    #[arg(long)]
    name: Option<String>,
}

/// Writes the project under a temporary name and renames it, so that a failure leaves nothing half-made.
pub fn run(options: &Options) -> Result<ExitCode> {
    let dir = std::path::absolute(&options.dir)?;
    if dir.exists() {
        bail!(
            "{} exists already: name a folder that does not",
            dir.display()
        );
    }
    if dir.starts_with(workspace::root()) {
        bail!(
            "{} lies in the warpsmith checkout, whose workspace and settings would be the project's: name a folder outside of it",
            dir.display()
        );
    }
    let name = match &options.name {
        Some(name) => name.clone(),
        None => dir
            .file_name()
            .and_then(|name| name.to_str())
            .context("the folder's last part is no name for a package: give one with --name")?
            .to_owned(),
    };
    check_name(&name)?;
    let parent = dir
        .parent()
        .context("the root folder cannot be a project")?;
    fs::create_dir_all(parent).with_context(|| format!("could not make {}", parent.display()))?;
    let staging = tempfile::Builder::new()
        .prefix(".warpsmith-new-")
        .tempdir_in(parent)
        .with_context(|| format!("could not write in {}", parent.display()))?;
    write_project(staging.path(), &name)?;
    fs::rename(staging.keep(), &dir)
        .with_context(|| format!("could not make {}", dir.display()))?;
    println!(
        "Made {}. Now:\n    cd {}\n    cargo run\n    cargo test",
        dir.display(),
        options.dir.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Cargo's own rule for a package's name, and not a name that would shadow a crate in use.
fn check_name(name: &str) -> Result<()> {
    let first_is_letter = name
        .chars()
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic());
    let rest_is_plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !first_is_letter || !rest_is_plain {
        bail!(
            "`{name}` cannot name a package: it needs a letter first, then letters, digits, `-` or `_`; give another with --name"
        );
    }
    if ["core", "std", "alloc", "test", "kernels"].contains(&name) || name.starts_with("warpsmith")
    {
        bail!("`{name}` is taken by a crate that the project uses; give another with --name");
    }
    Ok(())
}

/// Fills in the templates.
fn write_project(folder: &Path, name: &str) -> Result<()> {
    let root = workspace::root();
    let root = root
        .to_str()
        .context("the workspace's path is not UTF-8, which Cargo.toml needs")?;
    for (path, text) in FILES {
        let target = folder.join(path);
        fs::create_dir_all(target.parent().context("a file has a folder")?)?;
        let text = text
            .replace("{{name}}", name)
            .replace("{{crate}}", &name.replace('-', "_"))
            .replace("{{warpsmith}}", root);
        fs::write(&target, text)
            .with_context(|| format!("could not write {}", target.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_names_that_cargo_or_the_project_cannot_take() {
        for bad in ["", "9lives", "a b", "core", "warpsmith-host", "ü"] {
            assert!(check_name(bad).is_err(), "{bad:?} was taken");
        }
        check_name("my-project_2").expect("a plain name");
    }

    #[test]
    fn fills_in_every_placeholder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_project(folder.path(), "my-demo").expect("the templates can be written");
        for (path, _) in FILES {
            let text = fs::read_to_string(folder.path().join(path)).expect("the file was written");
            assert!(!text.contains("{{"), "{path} has a placeholder left");
        }
        let main = fs::read_to_string(folder.path().join("src/main.rs")).expect("it was written");
        assert!(main.contains("use my_demo::"), "{main}");
    }
}
