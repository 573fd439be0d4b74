//! The toolchains that rustup has installed.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use warpsmith_builder::toolchain::Toolchain;

/// A toolchain by rustup's name for it.
pub struct Installed {
    /// As in `1.99.1` or `nightly-2026-10-30`.
    pub name: String,
    /// What it is.
    pub toolchain: Toolchain,
}

/// The toolchain with this name.
pub fn find(name: &str) -> Result<Installed> {
    let output = Command::new("rustup")
        .args(["which", "rustc", "--toolchain", name])
        .output()
        .context("could not start `rustup`")?;
    if !output.status.success() {
        bail!(
            "`{name}` is not installed: `rustup toolchain install {name} --profile minimal --component rust-src`\n{}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let rustc = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(Installed {
        name: name.to_owned(),
        toolchain: Toolchain::of(Path::new(&rustc))?,
    })
}

/// All that are installed and can compile kernels, each once, oldest first.
pub fn all() -> Result<Vec<Installed>> {
    let output = Command::new("rustup")
        .args(["toolchain", "list", "--quiet"])
        .output()
        .context("could not start `rustup`")?;
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found: Vec<Installed> = Vec::new();
    for name in names.lines().map(short_name) {
        let installed = find(name)?;
        let commit = &installed.toolchain.commit;
        if let Err(error) = installed.toolchain.standing() {
            eprintln!("      {name} is left out: {error}");
        } else if !found.iter().any(|other| other.toolchain.commit == *commit) {
            found.push(installed);
        }
    }
    found.sort_by_key(|installed| installed.toolchain.release().ok());
    Ok(found)
}

/// [`all`] but the one in use.
pub fn others() -> Result<Vec<Installed>> {
    let in_use = Toolchain::find()?.commit;
    let mut others = all()?;
    others.retain(|other| other.toolchain.commit != in_use);
    Ok(others)
}

/// Without what this machine is, and the marks of `rustup toolchain list`.
fn short_name(line: &str) -> &str {
    let name = line.split_whitespace().next().unwrap_or(line);
    name.strip_suffix("-x86_64-unknown-linux-gnu")
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_a_person_gives() {
        for (line, name) in [
            ("1.99.1-x86_64-unknown-linux-gnu", "1.99.1"),
            (
                "stable-x86_64-unknown-linux-gnu (active, default)",
                "stable",
            ),
            (
                "nightly-2026-10-30-x86_64-unknown-linux-gnu",
                "nightly-2026-10-30",
            ),
            ("mine", "mine"),
        ] {
            assert_eq!(short_name(line), name);
        }
    }

    #[test]
    fn one_that_is_not_installed_is_named_with_the_command_that_fetches_it() {
        let error = find("1.2.3").err().expect("nobody has it").to_string();
        assert!(error.contains("rustup toolchain install 1.2.3"), "{error}");
    }
}
