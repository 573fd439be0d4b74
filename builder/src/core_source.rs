//! Finds the source of Rust's `core`, which rustup does not install by default.
//!
//! In order: the toolchain's own sysroot, the cache, `rustup component add rust-src`, and Debian's package
//! `rust-src` of exactly this version (fetched with `apt-get` into a private folder: no root, the system's
//! package lists stay untouched, Debian's signature is checked).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache;
use crate::error::BuildError;
use crate::toolchain::Toolchain;

/// The `library` folder with the source of `core`, found without installing anything.
pub fn find(toolchain: &Toolchain) -> Option<PathBuf> {
    let in_sysroot = toolchain.sysroot.join("lib/rustlib/src/rust/library");
    let in_cache = cache::folder()
        .ok()
        .map(|c| c.join(cache_name(toolchain)).join("library"));
    [Some(in_sysroot), in_cache]
        .into_iter()
        .flatten()
        .find(|path| is_library(path))
}

/// As [`find`], else fetches it; says on stderr what it does.
pub fn find_or_fetch(toolchain: &Toolchain) -> Result<PathBuf, BuildError> {
    if let Some(found) = find(toolchain) {
        return Ok(found);
    }
    // Of two `rustup component add` at once, one fails.
    let lock = format!("{}.fetch.lock", cache_name(toolchain));
    let _lock = cache::lock(&cache::folder()?.join(lock))?;
    if let Some(found) = find(toolchain) {
        return Ok(found);
    }
    let mut tried = Vec::new();
    eprintln!("warpsmith: fetching the source of `core` with `rustup component add rust-src`");
    match with_rustup(toolchain) {
        Ok(()) => {
            if let Some(found) = find(toolchain) {
                return Ok(found);
            }
            tried
                .push("rustup: the component is installed, but its files are not there".to_owned());
        }
        Err(reason) => tried.push(format!("rustup: {reason}")),
    }
    eprintln!(
        "warpsmith: fetching the source of `core` from Debian's package rust-src={}",
        toolchain.release
    );
    match with_debian(toolchain) {
        Ok(found) => return Ok(found),
        Err(reason) => tried.push(format!("Debian: {reason}")),
    }
    Err(BuildError::Setup(format!(
        "the source of Rust's `core` is needed to compile kernels, and could not be fetched.\n  {}\n\
         Run `rustup component add rust-src --toolchain {}` where there is a network, or put the folder `library` of \
         the source of Rust {} at {}",
        tried.join("\n  "),
        toolchain.release,
        toolchain.release,
        cache::folder()?
            .join(cache_name(toolchain))
            .join("library")
            .display(),
    )))
}

fn cache_name(toolchain: &Toolchain) -> String {
    format!("rust-src-{}", toolchain.release)
}

/// A whole `library` folder, not the remains of one.
fn is_library(path: &Path) -> bool {
    path.join("core/src/lib.rs").is_file() && path.join("Cargo.lock").is_file()
}

fn with_rustup(toolchain: &Toolchain) -> Result<(), String> {
    let name = toolchain
        .sysroot
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let output = Command::new("rustup")
        .args(["component", "add", "rust-src", "--toolchain", &name])
        .output()
        .map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(last_line(&output.stderr))
    }
}

fn with_debian(toolchain: &Toolchain) -> Result<PathBuf, String> {
    const SOURCES: &str = "/etc/apt/sources.list.d/debian.sources";
    let text = fs::read_to_string(SOURCES).map_err(|e| format!("{SOURCES}: {e}"))?;
    let field = |name: &str| {
        text.lines()
            .find_map(|l| l.strip_prefix(name))
            .map(|v| v.trim().to_owned())
            .ok_or(format!("{SOURCES} has no `{name}`"))
    };
    let (uri, key) = (field("URIs:")?, field("Signed-By:")?);
    let uri = uri.split_whitespace().next().unwrap_or_default();
    let cache = cache::folder().map_err(|e| e.to_string())?;
    let made = cache::once(&cache, &cache_name(toolchain), |folder| {
        let inner = || -> Result<(), String> {
            let apt = folder.join("apt");
            for sub in ["lists/partial", "cache/archives/partial"] {
                fs::create_dir_all(apt.join(sub)).map_err(|e| e.to_string())?;
            }
            let list = apt.join("sources.list");
            fs::write(
                &list,
                format!("deb [signed-by={key}] {uri} trixie-backports main\n"),
            )
            .map_err(|e| e.to_string())?;
            let options = [
                format!("Dir::Etc::sourcelist={}", list.display()),
                "Dir::Etc::sourceparts=/dev/null".into(),
                format!("Dir::State::lists={}", apt.join("lists").display()),
                format!("Dir::Cache={}", apt.join("cache").display()),
                "APT::Sandbox::User=".into(),
            ];
            let apt_get = |arguments: &[&str]| {
                let mut command = Command::new("apt-get");
                for option in &options {
                    command.arg("-o").arg(option);
                }
                run(command.args(arguments).current_dir(&apt))
            };
            apt_get(&["-qq", "update"])?;
            apt_get(&[
                "-qq",
                "download",
                &format!("rust-src={}*", toolchain.release),
            ])?;
            let package = fs::read_dir(&apt)
                .map_err(|e| e.to_string())?
                .flatten()
                .map(|e| e.path())
                .find(|p| p.extension().is_some_and(|e| e == "deb"))
                .ok_or("apt-get downloaded no package")?;
            let unpacked = folder.join("unpacked");
            run(Command::new("dpkg").arg("-x").arg(&package).arg(&unpacked))?;
            let library = unpacked.join(format!("usr/src/rustc-{}/library", toolchain.release));
            fs::rename(&library, folder.join("library"))
                .map_err(|e| format!("{}: {e}", library.display()))?;
            for leftover in [apt, unpacked] {
                fs::remove_dir_all(&leftover).map_err(|e| e.to_string())?;
            }
            Ok(())
        };
        inner().map_err(BuildError::Setup)
    });
    let library = made.map_err(|e| e.to_string())?.join("library");
    if is_library(&library) {
        Ok(library)
    } else {
        Err(format!(
            "{} is damaged: delete its folder",
            library.display()
        ))
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|e| format!("cannot run {program}: {e}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{program}: {}", last_line(&output.stderr)))
    }
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .rev()
        .find(|l| !l.trim().is_empty())
        .unwrap_or("failed without a message")
        .trim()
        .to_owned()
}
