//! Finds rustc, its version, its sysroot and the LLVM library in it.
//!
//! Kernels compile with whatever rustc the user has: [`tested`] says which ones the tests have passed with, and
//! `admission` tries any other one with probe kernels.

mod release;
pub mod tested;

pub use release::Release;

use std::panic;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::environment;
use crate::error::BuildError;

/// The rustc that device builds use: the one that `cargo` and rustup give in this folder.
#[derive(Debug, Clone)]
pub struct Toolchain {
    /// The compiler itself, inside its sysroot (not rustup's proxy).
    pub rustc: PathBuf,
    /// The cargo beside it.
    pub cargo: PathBuf,
    /// `rustc --print sysroot`.
    pub sysroot: PathBuf,
    /// As in `1.95.0`.
    pub release: String,
    /// The commit that it was built from.
    pub commit: String,
    /// Version of its LLVM.
    pub llvm_version: String,
}

/// rustc's name of the GPU target.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

impl Toolchain {
    /// Asks `$RUSTC` (set in build scripts), else `rustc`.
    pub fn find() -> Result<Toolchain, BuildError> {
        let rustc = environment::rustc();
        Toolchain::of(Path::new(&rustc))
    }

    /// Asks the given rustc.
    pub fn of(rustc: &Path) -> Result<Toolchain, BuildError> {
        let run = |args: &[&str]| -> Result<String, BuildError> {
            let output = Command::new(rustc)
                .args(args)
                .env_remove("RUSTC_WRAPPER")
                .output()
                .map_err(|e| {
                    BuildError::Setup(format!(
                        "cannot run `{}`: {e}. Install Rust from https://rustup.rs",
                        rustc.display()
                    ))
                })?;
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(BuildError::Setup(format!(
                    "`{} {}` failed:\n{text}",
                    rustc.display(),
                    args.join(" ")
                )));
            }
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let (text, sysroot) = thread::scope(|scope| {
            let sysroot = scope.spawn(|| run(&["--print", "sysroot"]));
            (run(&["-vV"]), sysroot.join())
        });
        let text = text?;
        let sysroot = sysroot.unwrap_or_else(|panic| panic::resume_unwind(panic))?;
        let field = |name: &str| {
            text.lines()
                .find_map(|l| l.strip_prefix(name))
                .map(|v| v.trim().to_owned())
                .unwrap_or_default()
        };
        let sysroot = PathBuf::from(sysroot.trim());
        let tool = |name: &str| {
            let inside = sysroot.join("bin").join(name);
            if inside.is_file() {
                inside
            } else {
                PathBuf::from(name)
            }
        };
        Ok(Toolchain {
            rustc: tool("rustc"),
            cargo: tool("cargo"),
            release: field("release:"),
            commit: field("commit-hash:"),
            llvm_version: field("LLVM version:"),
            sysroot,
        })
    }

    /// Its version as numbers.
    pub fn release(&self) -> Result<Release, BuildError> {
        self.release.parse().map_err(BuildError::Setup)
    }

    /// The major version of its LLVM, `None` if rustc names none.
    pub fn llvm_major(&self) -> Option<u32> {
        self.llvm_version.split('.').next()?.parse().ok()
    }

    /// rustc's LLVM library.
    pub fn llvm_library(&self) -> Result<PathBuf, BuildError> {
        self.standing()?;
        let folder = self.sysroot.join("lib");
        let mut found: Vec<PathBuf> = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                path.file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with("libLLVM.so"))
            })
            .collect();
        found.sort();
        found.pop().ok_or_else(|| {
            BuildError::Setup(format!(
                "no libLLVM.so in {}: this rustc is not one of rustup's (distributions link LLVM elsewhere). \
                 Install rustup's with `rustup toolchain install stable`",
                folder.display()
            ))
        })
    }

    /// A short name for what is cached per toolchain.
    pub fn key(&self) -> String {
        let commit: String = self.commit.chars().take(9).collect();
        format!(
            "{}-{}",
            self.release,
            if commit.is_empty() {
                "unknown"
            } else {
                &commit
            }
        )
    }
}
