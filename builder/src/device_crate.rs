//! Runs cargo for the GPU target in an environment of its own and collects the archives that it makes.
//!
//! The build may be part of another cargo's build (a `build.rs`), under clippy, rust-analyzer or
//! `cargo doc`; nothing of that outer build's environment may leak into this one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::environment;
use crate::error::{BuildError, IoContext};
use crate::hints;
use crate::line_readers;
use crate::rustc_error::RustcError;
use crate::shared_units::unit_of;
use crate::sources::SourceLists;
use crate::toolchain::tested::{self, Standing};
use crate::toolchain::{TARGET, Toolchain};

/// Flags for every crate compiled for the GPU, `core` included.
pub(crate) fn base_flags() -> Vec<String> {
    [
        // All LLVM optimisation happens in the linker, after convergence is marked.
        "-Cno-prepopulate-passes",
        "-Clto=off",
        // Duplicates barriers into branches before LLVM sees them.
        "-Zmir-enable-passes=-JumpThreading",
        "-Copt-level=3",
        "-Cpanic=abort",
        "-Cdebuginfo=line-directives-only",
    ]
    .map(String::from)
    .to_vec()
}

/// One call of cargo.
pub(crate) struct Invocation<'a> {
    toolchain: &'a Toolchain,
    manifest: PathBuf,
    target_folder: PathBuf,
    /// Where cargo runs, and so whose configuration it reads.
    pub folder: PathBuf,
    /// The workspace's folder, where cargo runs rustc.
    pub workspace_folder: PathBuf,
    /// Passed to rustc for every device crate.
    pub rustflags: Vec<String>,
    /// Extra arguments of cargo.
    pub arguments: Vec<String>,
    /// Passed to rustc for the kernel crate only.
    pub last_crate_flags: Vec<String>,
    /// Whether `debug_assert!` and overflow checks are in.
    pub debug_assertions: bool,
    /// Extra environment.
    pub environment: Vec<(String, OsString)>,
}

/// What a build left.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// The `.rlib`s of the user's own device crates, the kernel crate last.
    pub archives: Vec<PathBuf>,
    /// Those of all others: from a registry or git, and the device library.
    pub foreign_archives: Vec<PathBuf>,
    /// Units of registry crates that this build compiled (see `shared_units`).
    pub new_registry_units: BTreeSet<String>,
    /// Diagnostics (warnings) as rustc printed them.
    pub warnings: String,
    /// The folders of those others.
    pub foreign: Vec<PathBuf>,
    /// The folders of their sources; without the device library.
    pub foreign_sources: Vec<PathBuf>,
    /// The folder of the device library.
    pub device_library: Option<PathBuf>,
    /// Whether a procedural macro took part that may put the numbers of lines into code.
    pub may_read_lines: bool,
    /// Whether there are warnings about crates of the user's own.
    pub warns_of_own: bool,
    /// What lists the source files of the kernel crate and of all its path dependencies.
    pub sources: SourceLists,
}

impl Built {
    /// Adds the kernel crate behind the others, whose order becomes that of their paths: cargo names crates that it builds at the same time
    /// in any order, and what decides a unit's PTX, and so its key in the cache, must not depend on it.
    fn finish(&mut self, kernel_crate: Option<PathBuf>) {
        for paths in [
            &mut self.archives,
            &mut self.foreign_archives,
            &mut self.foreign,
            &mut self.foreign_sources,
        ] {
            paths.sort();
        }
        self.archives.extend(kernel_crate);
    }

    /// Notes where the sources are of a crate in `folder` that is not the user's, by a message of cargo about it.
    fn note_sources(&mut self, message: &serde_json::Value, folder: &Path) {
        if is_device_library(message) {
            self.device_library = Some(folder.to_path_buf());
            return;
        }
        let root = message["target"]["src_path"].as_str().map(Path::new);
        let sources = root.and_then(Path::parent).unwrap_or(folder);
        self.foreign_sources.push(sources.to_path_buf());
    }

    /// Notes the unit that `file` of a message belongs to, if it is a registry crate's and was compiled now.
    fn note_units(&mut self, message: &serde_json::Value, file: &serde_json::Value) {
        let is_registry = message["package_id"]
            .as_str()
            .is_some_and(|id| id.starts_with("registry+"));
        if !is_registry || message["fresh"] == true {
            return;
        }
        let path = Path::new(file.as_str().unwrap_or_default());
        let units = path
            .iter()
            .rev()
            .take(3)
            .filter_map(|part| unit_of(part.to_str()?));
        self.new_registry_units.extend(units.map(String::from));
    }
}

/// A cause of a failed compilation that rustc's own words do not explain.
enum KnownCause {
    /// The crate is not `no_std`.
    NeedsStd(String),
    /// The crate names a feature in `#![feature(...)]` that it has anyway.
    NamesFeature(String),
}

impl<'a> Invocation<'a> {
    /// A call for the package of `manifest`, with its own target folder.
    pub fn new(toolchain: &'a Toolchain, manifest: &Path, target_folder: &Path) -> Invocation<'a> {
        Invocation {
            toolchain,
            manifest: manifest.to_path_buf(),
            target_folder: target_folder.to_path_buf(),
            folder: manifest.parent().unwrap_or(Path::new(".")).to_path_buf(),
            workspace_folder: PathBuf::new(),
            rustflags: Vec::new(),
            arguments: Vec::new(),
            last_crate_flags: Vec::new(),
            debug_assertions: false,
            environment: Vec::new(),
        }
    }

    fn command(&self) -> Command {
        let mut command = clean_cargo(self.toolchain);
        command
            .current_dir(&self.folder)
            .args([
                "rustc",
                "--lib",
                "--release",
                "--crate-type=rlib",
                "--target",
                TARGET,
            ])
            .args([
                if std::io::stderr().is_terminal() {
                    "--message-format=json-diagnostic-rendered-ansi"
                } else {
                    "--message-format=json"
                },
                "--manifest-path",
            ])
            .arg(&self.manifest)
            .arg("--target-dir")
            .arg(&self.target_folder)
            .args(&self.arguments)
            .arg("--")
            .args(&self.last_crate_flags)
            .env("RUSTC", &self.toolchain.rustc)
            // The target and the flags are not stable yet; this covers device builds only.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_ENCODED_RUSTFLAGS", self.rustflags.join("\x1f"))
            // Whatever the user's release profile says is about the host.
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
            .env(
                "CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS",
                self.debug_assertions.to_string(),
            )
            .env(
                "CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS",
                self.debug_assertions.to_string(),
            )
            .env("CARGO_PROFILE_RELEASE_INCREMENTAL", "true")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false") // `base_flags` has what is wanted
            .env("CARGO_PROFILE_RELEASE_STRIP", "none")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_RPATH", "false")
            .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_DEBUG", "false")
            .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_CODEGEN_UNITS", "16")
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs cargo to its end.
    pub fn run(&self) -> Result<Built, BuildError> {
        let mut child = self
            .command()
            .spawn()
            .context("cannot run", &self.toolchain.cargo)?;
        let stderr = child.stderr.take();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            if let Some(mut pipe) = stderr {
                let _ = pipe.read_to_string(&mut text);
            }
            text
        });
        let mut built = Built::default();
        let mut diagnostics = String::new();
        let mut errors = Vec::new();
        let mut kernel_crate = None;
        let mut cause = None;
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        for line in stdout.lines() {
            let line = line.context("cannot read the output of", &self.toolchain.cargo)?;
            let Ok(message) = serde_json::from_str::<serde_json::Value>(&line) else {
                continue;
            };
            match message["reason"].as_str() {
                Some("compiler-message") => {
                    let rendered = message["message"]["rendered"].as_str().unwrap_or_default();
                    let is_error = message["message"]["level"]
                        .as_str()
                        .is_some_and(|l| l.starts_with("error"));
                    let krate = || {
                        message["target"]["name"]
                            .as_str()
                            .unwrap_or_default()
                            .to_owned()
                    };
                    match message["message"]["code"]["code"].as_str() {
                        Some("E0463") if rendered.contains("crate for `std`") => {
                            cause = Some(KnownCause::NeedsStd(krate()))
                        }
                        // An error up to rustc 1.95, a lint from 1.96 on.
                        Some("E0636" | "duplicate_features")
                            if is_error && rendered.contains("<crate attribute>") =>
                        {
                            cause = Some(KnownCause::NamesFeature(krate()))
                        }
                        _ => {}
                    }
                    errors.extend(RustcError::read(
                        &message["message"],
                        &self.workspace_folder,
                    ));
                    built.warns_of_own |= !is_of_device_library(&message);
                    if is_error {
                        &mut diagnostics
                    } else {
                        &mut built.warnings
                    }
                    .push_str(rendered);
                    if let Some(hint) = message["message"]["message"]
                        .as_str()
                        .filter(|_| is_error)
                        .and_then(hints::hint)
                    {
                        diagnostics += &format!("help: {hint}\n\n");
                    }
                }
                Some("build-script-executed") => {
                    built.sources.note_script(&message);
                    built.note_units(&message, &message["out_dir"]);
                }
                Some("compiler-artifact") => {
                    built.sources.note_unit(&message);
                    built.may_read_lines |= line_readers::is_unknown_macro(&message);
                    for file in message["filenames"].as_array().into_iter().flatten() {
                        built.note_units(&message, file);
                    }
                    let files = message["filenames"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(|f| f.as_str());
                    let is_device =
                        |f: &&str| f.ends_with(".rlib") && f.contains(&format!("/{TARGET}/"));
                    if let Some(archive) = files.filter(is_device).map(PathBuf::from).next() {
                        // With pipelining the kernel crate may be done before its dependencies are.
                        let is_kernel_crate = message["manifest_path"]
                            .as_str()
                            .is_some_and(|path| Path::new(path) == self.manifest);
                        if is_kernel_crate {
                            built.sources.whole = Some(archive.with_extension("d"));
                            kernel_crate = Some(archive);
                        } else {
                            match foreign_folder(&message) {
                                Some(folder) => {
                                    built.note_sources(&message, &folder);
                                    built.foreign.push(folder);
                                    built.foreign_archives.push(archive);
                                }
                                None => built.archives.push(archive),
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        let status = child
            .wait()
            .context("cannot wait for", &self.toolchain.cargo)?;
        let stderr = stderr.join().unwrap_or_default();
        if status.success() {
            built.finish(kernel_crate);
            return Ok(built);
        }
        if diagnostics.is_empty() {
            diagnostics = stderr;
        }
        Err(BuildError::Rustc {
            diagnostics: diagnostics.trim_end().to_owned(),
            errors,
            hint: self.hint(cause),
        })
    }

    /// Notes which of rustc's errors the host's compilation of the same source has, too: `cargo check` for the host. If that cannot
    /// run, none is noted.
    pub fn compare_with_host(&self, mut error: BuildError) -> BuildError {
        let BuildError::Rustc { errors, .. } = &mut error else {
            return error;
        };
        let mut command = clean_cargo(self.toolchain);
        command
            .current_dir(&self.folder)
            .args(["check", "--lib", "--message-format=json", "--manifest-path"])
            .arg(&self.manifest)
            .arg("--target-dir")
            .arg(&self.target_folder)
            .args(&self.arguments)
            .env("RUSTC", &self.toolchain.rustc)
            // A crate that embeds its own PTX finds it there.
            .envs(environment::out_folder().map(|folder| ("OUT_DIR", folder)))
            .stdin(Stdio::null());
        let Ok(output) = command.output() else {
            return error;
        };
        let on_host: Vec<RustcError> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter(|message| message["reason"] == "compiler-message")
            .filter_map(|message| RustcError::read(&message["message"], &self.workspace_folder))
            .collect();
        for error in errors {
            error.on_host = on_host.iter().any(|other| {
                (&error.code, &error.message, &error.location)
                    == (&other.code, &other.message, &other.location)
            });
        }
        error
    }

    /// What to do about a failed compilation, where there is something to say that rustc does not.
    fn hint(&self, cause: Option<KnownCause>) -> Option<String> {
        match cause {
            Some(KnownCause::NeedsStd(krate)) => {
                return Some(format!(
                    "`{krate}` needs `std`, which the GPU does not have. In a crate of your own write `#![no_std]`; of a \
                     dependency turn its `std` feature off (`default-features = false`), or keep it away from the kernels"
                ));
            }
            Some(KnownCause::NamesFeature(krate)) => {
                return Some(format!(
                    "`{krate}` turns on a feature of rustc that the builder turns on for every device crate; take it out \
                     of its `#![feature(...)]`"
                ));
            }
            None => {}
        }
        (self.toolchain.standing().ok() == Some(Standing::Untested)).then(|| {
            format!(
                "this is rustc {}, and the tests have passed with {}: if the errors below are not about your code, use one of \
                 those",
                self.toolchain.release,
                tested::described()
            )
        })
    }
}

/// cargo without what an outer cargo put into the environment.
fn clean_cargo(toolchain: &Toolchain) -> Command {
    let mut command = Command::new(&toolchain.cargo);
    for name in environment::of_outer_builds() {
        command.env_remove(name);
    }
    command
}

/// The manifest of the workspace that a package belongs to.
pub(crate) fn workspace_of(toolchain: &Toolchain, manifest: &Path) -> Result<PathBuf, BuildError> {
    if is_workspace(manifest) {
        return Ok(manifest.to_path_buf());
    }
    let output = clean_cargo(toolchain)
        .args([
            "locate-project",
            "--workspace",
            "--message-format=plain",
            "--manifest-path",
        ])
        .arg(manifest)
        .output()
        .context("cannot run", &toolchain.cargo)?;
    if !output.status.success() {
        let diagnostics = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(BuildError::Rustc {
            diagnostics,
            errors: Vec::new(),
            hint: None,
        });
    }
    Ok(PathBuf::from(
        String::from_utf8_lossy(&output.stdout).trim(),
    ))
}

/// Whether a manifest says that it is a workspace's: then it is its package's, and cargo need not be asked, which takes its time.
fn is_workspace(manifest: &Path) -> bool {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    text.parse::<toml::Table>()
        .is_ok_and(|manifest| manifest.contains_key("workspace"))
}

/// The folder of a crate that is not the user's own, by a message of cargo about it.
fn foreign_folder(message: &serde_json::Value) -> Option<PathBuf> {
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let is_path = message["package_id"].as_str()?.starts_with("path+");
    (!is_path || is_device_library(message)).then(|| folder.to_path_buf())
}

fn is_device_library(message: &serde_json::Value) -> bool {
    message["target"]["name"] == "warpsmith_device"
}

/// Whether cargo's message is about the device library or its macros.
fn is_of_device_library(message: &serde_json::Value) -> bool {
    is_device_library(message) || message["target"]["name"] == line_readers::DEVICE_MACROS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_in_which_cargo_names_crates_is_forgotten() {
        let built = |names: [&str; 3]| {
            let paths = names.map(PathBuf::from).to_vec();
            let mut built = Built {
                archives: paths.clone(),
                foreign_archives: paths.clone(),
                foreign: paths,
                ..Built::default()
            };
            built.finish(Some("a_kernel_crate".into()));
            (built.archives, built.foreign_archives, built.foreign)
        };
        let (archives, ..) = built(["c", "b", "d"]);
        assert_eq!(
            archives,
            ["b", "c", "d", "a_kernel_crate"].map(PathBuf::from)
        );
        assert_eq!(built(["c", "b", "d"]), built(["d", "c", "b"]));
    }
}
