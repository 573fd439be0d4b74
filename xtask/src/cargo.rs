//! Running cargo: plainly, or to build something and learn its path.

use crate::{environment, workspace};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// One executable that a build made.
#[derive(Debug, Clone)]
pub struct Executable {
    /// The target's name: a binary's, an example's or a test's.
    pub name: String,
    /// The package that it belongs to.
    pub package: String,
    /// Its path.
    pub path: PathBuf,
    /// Whether it is an integration test.
    pub is_test: bool,
}

/// A cargo command in the workspace's root.
pub fn command() -> Command {
    let mut command = Command::new(environment::cargo());
    command.current_dir(workspace::root());
    command
}

/// A command of another toolchain's cargo, through rustup, in the workspace's root.
pub fn of_toolchain(toolchain: &str) -> Command {
    let mut command = Command::new("rustup");
    command
        .args(["run", toolchain, "cargo"])
        .current_dir(workspace::root());
    // What rustup set for the toolchain that runs this would hold for the other one.
    for variable in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command
}

/// Runs a command to its end and hands on its exit code.
pub fn run(command: &mut Command) -> Result<ExitCode> {
    let status = command
        .status()
        .with_context(|| format!("could not start `{}`", display(command)))?;
    // A command ended by a signal has no code; 101 is what a panicking Rust program answers.
    let code = u8::try_from(status.code().unwrap_or(101)).unwrap_or(101);
    Ok(ExitCode::from(code))
}

/// Runs a command that must succeed.
pub fn run_or_fail(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("could not start `{}`", display(command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", display(command));
    }
    Ok(())
}

/// Builds with `arguments` (as after `cargo`) and returns the executables and dynamic libraries that came of it.
pub fn build(arguments: &[&str]) -> Result<Vec<Executable>> {
    let mut command = command();
    command
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    let output = command
        .output()
        .with_context(|| format!("could not start `{}`", display(&command)))?;
    if !output.status.success() {
        bail!("`{}` failed: {}", display(&command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(executable)
        .collect())
}

/// Reads one line of cargo's JSON messages.
fn executable(line: &str) -> Option<Executable> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    let shared_library = || {
        message["filenames"]
            .as_array()?
            .iter()
            .filter_map(|name| name.as_str())
            .find(|name| name.ends_with(".so"))
    };
    let is_cdylib = message["target"]["crate_types"]
        .as_array()
        .is_some_and(|types| types.iter().any(|kind| kind == "cdylib"));
    let path = match message["executable"].as_str() {
        Some(path) => path,
        None if is_cdylib => shared_library()?,
        None => return None,
    };
    // A package id ends in `path+file:///folder#name@version`, or `#version` where the folder has the package's name.
    let id = message["package_id"].as_str()?;
    let (folder, fragment) = id.rsplit_once('#')?;
    let package = match fragment.split_once('@') {
        Some((name, _)) => name,
        None => folder.rsplit('/').next()?,
    };
    Some(Executable {
        name: message["target"]["name"].as_str()?.to_owned(),
        package: package.to_owned(),
        path: PathBuf::from(path),
        is_test: message["profile"]["test"].as_bool()?
            && message["target"]["kind"]
                .as_array()
                .is_some_and(|kinds| kinds.iter().any(|kind| kind == "test")),
    })
}

/// A command as a person would type it.
pub fn display(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|argument| argument.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_executables_and_ignores_other_messages() {
        let line = r#"{"reason":"compiler-artifact","package_id":"path+file:///w/kernels/suite#warpsmith-suite@0.1.0",
            "target":{"name":"suite","crate_types":["bin"]},"profile":{"test":false},"filenames":["/t/suite"],"executable":"/t/suite"}"#;
        let found = executable(&line.replace('\n', " ")).expect("an executable");
        assert_eq!(
            (found.name.as_str(), found.package.as_str()),
            ("suite", "warpsmith-suite")
        );
        assert!(!found.is_test);
        assert!(executable(r#"{"reason":"build-finished","success":true}"#).is_none());
        let library = r#"{"reason":"compiler-artifact","package_id":"path+file:///w/xtask#0.1.0","target":{"name":"x","crate_types":["lib"]},
            "profile":{"test":false},"filenames":["/t/libx.rlib"],"executable":null}"#;
        assert!(executable(&library.replace('\n', " ")).is_none());
    }

    #[test]
    fn names_the_package_by_its_folder_where_the_id_holds_only_a_version() {
        let line = r#"{"reason":"compiler-artifact","package_id":"path+file:///w/xtask#0.1.0","target":{"name":"x","kind":["test"],"crate_types":["bin"]},"profile":{"test":true},"filenames":[],"executable":"/t/x"}"#;
        let found = executable(line).expect("an executable");
        assert_eq!(found.package, "xtask");
        assert!(found.is_test);
        // A library's or a program's own tests.
        let unit = line.replace(r#""kind":["test"]"#, r#""kind":["bin"]"#);
        assert!(!executable(&unit).expect("an executable").is_test);
    }
}
