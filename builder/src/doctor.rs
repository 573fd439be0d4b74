//! Looks at every ingredient of a device build and says what is wrong with it and the remedy.

use crate::admission;
use crate::cache;
use crate::core_source;
use crate::error::BuildError;
use crate::llvm;
use crate::ptxas::{self, Ptxas};
use crate::sysroot::DeviceSysroot;
use crate::toolchain::Toolchain;
use crate::toolchain::tested::{self, Standing};

/// One ingredient of a device build.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ingredient {
    /// What it is: `rustc`, `core source` ...
    pub name: &'static str,
    /// What was found, with version and path.
    pub found: Option<String>,
    /// What is wrong with it, if anything.
    pub problem: Option<String>,
    /// The command that remedys it.
    pub remedy: Option<String>,
    /// Builds work without it.
    pub optional: bool,
}

impl Ingredient {
    fn good(name: &'static str, found: impl Into<String>) -> Ingredient {
        Ingredient {
            name,
            found: Some(found.into()),
            problem: None,
            remedy: None,
            optional: false,
        }
    }

    fn bad(
        name: &'static str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Ingredient {
        Ingredient {
            name,
            found: None,
            problem: Some(problem.into()),
            remedy: Some(remedy.into()),
            optional: false,
        }
    }

    /// True when nothing needs remedying.
    pub fn is_good(&self) -> bool {
        self.problem.is_none()
    }
}

/// Checks rustc, the LLVM library, the source of `core`, the device sysroot, the cache, a C linker and
/// ptxas. Installs and builds nothing.
pub fn doctor() -> Vec<Ingredient> {
    let mut list = Vec::new();
    match Toolchain::find() {
        Err(error) => list.push(Ingredient::bad(
            "rustc",
            error.to_string(),
            "curl https://sh.rustup.rs -sSf | sh",
        )),
        Ok(toolchain) => {
            list.push(rustc(&toolchain));
            list.push(llvm_library(&toolchain));
            list.push(core(&toolchain));
            list.push(sysroot(&toolchain));
        }
    }
    list.push(cache_folder());
    list.push(c_linker());
    list.push(assembler());
    list
}

fn rustc(toolchain: &Toolchain) -> Ingredient {
    let mut rustc = Ingredient::good(
        "rustc",
        format!("{} in {}", toolchain.release, toolchain.sysroot.display()),
    );
    let tested = tested::newest_stable();
    match toolchain.standing() {
        Ok(Standing::Tested) => {}
        Ok(Standing::Untested) => {
            rustc.problem = Some(match admission::remembered(toolchain) {
                true => format!(
                    "not tested (tested are {}); the probe kernels came out right",
                    tested::described()
                ),
                false => format!(
                    "not tested (tested are {}); the first build tries it with probe kernels",
                    tested::described()
                ),
            });
            rustc.remedy = Some(format!(
                "none needed; a tested one: rustup toolchain install {tested}"
            ));
            rustc.optional = true;
        }
        Err(error) => {
            rustc.problem = Some(error.to_string());
            rustc.remedy = Some(format!("rustup toolchain install {tested}"));
        }
    }
    rustc
}

fn llvm_library(toolchain: &Toolchain) -> Ingredient {
    let remedy = format!(
        "rustup toolchain install {} --force-non-host --profile minimal",
        tested::newest_stable()
    );
    match toolchain.llvm_library() {
        Err(error) => Ingredient::bad("LLVM library", error.to_string(), remedy),
        Ok(path) => match llvm::load(&path) {
            Ok(_) => Ingredient::good(
                "LLVM library",
                format!("{} at {}", toolchain.llvm_version, path.display()),
            ),
            Err(error) => Ingredient::bad(
                "LLVM library",
                format!("{}: {error}", path.display()),
                remedy,
            ),
        },
    }
}

fn core(toolchain: &Toolchain) -> Ingredient {
    match core_source::find(toolchain) {
        Some(path) => Ingredient::good("core source", path.display().to_string()),
        None => Ingredient::bad(
            "core source",
            "not in the toolchain and not in the cache (the first build fetches it, from rustup or Debian)",
            format!(
                "rustup component add rust-src --toolchain {}",
                toolchain.release
            ),
        ),
    }
}

fn sysroot(toolchain: &Toolchain) -> Ingredient {
    match DeviceSysroot::find(toolchain) {
        Ok(Some(sysroot)) => Ingredient::good("device sysroot", sysroot.path.display().to_string()),
        Ok(None) => Ingredient {
            optional: true,
            ..Ingredient::bad(
                "device sysroot",
                "not built yet; the first build does it (half a minute)",
                "cargo xtask setup",
            )
        },
        Err(error) => Ingredient::bad("device sysroot", error.to_string(), "cargo xtask setup"),
    }
}

fn cache_folder() -> Ingredient {
    let check = || -> Result<String, BuildError> {
        let folder = cache::folder()?;
        cache::write_atomically(&folder.join(".writable"), b"")?;
        Ok(folder.display().to_string())
    };
    match check() {
        Ok(found) => Ingredient::good("cache", found),
        Err(error) => Ingredient::bad(
            "cache",
            error.to_string(),
            "export WARPSMITH_CACHE=/a/folder/that/you/can/write",
        ),
    }
}

fn c_linker() -> Ingredient {
    match std::process::Command::new("cc").arg("--version").output() {
        Ok(output) if output.status.success() => Ingredient::good(
            "C linker",
            String::from_utf8_lossy(&output.stdout)
                .lines()
                .next()
                .unwrap_or_default(),
        ),
        _ => Ingredient::bad(
            "C linker",
            "there is no `cc`; rustc links host programs with it",
            "sudo apt-get install gcc",
        ),
    }
}

fn assembler() -> Ingredient {
    let found = Ptxas::find().map(|ptxas| (ptxas.version(), ptxas));
    let remedy = "cargo xtask setup --ptxas";
    let ingredient = match found {
        Some((Ok(version), ptxas)) => {
            Ingredient::good("ptxas", format!("{version} at {}", ptxas.path().display()))
        }
        Some((Err(error), _)) => Ingredient::bad("ptxas", error.to_string(), remedy),
        None => Ingredient::bad("ptxas", ptxas::search_hint(), remedy),
    };
    Ingredient {
        optional: true,
        ..ingredient
    }
}
