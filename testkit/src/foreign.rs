//! Programs that are not of this workspace, and the dynamic libraries that they load.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A dynamic library of this workspace that cargo has built for the calling test, by its file's name.
///
/// # Panics
/// If there is none: the library's crate is the test's own, or a development dependency.
pub fn built_library(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test.parent().expect("and a folder");
    let places = [folder.join(name), folder.join("..").join(name)];
    let newest = places
        .iter()
        .filter(|place| place.exists())
        .max_by_key(|place| place.metadata().and_then(|data| data.modified()).ok());
    newest
        .unwrap_or_else(|| panic!("cargo has built no {name} before its tests"))
        .clone()
}

/// Compiles a C program with the system's compiler, or the one that `CC` names.
///
/// # Panics
/// If there is no compiler, or it refuses the program.
pub fn compile(source: &Path, into: &Path) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(&compiler)
        .arg("-o")
        .arg(into)
        .arg(source)
        .arg("-ldl")
        .status();
    let status = status.unwrap_or_else(|error| panic!("{compiler} does not start: {error}"));
    assert!(status.success(), "{compiler} refused {}", source.display());
}
