//! The linker's own device functions: written in Rust (`device/`), compiled for the GPU once per toolchain, into the cache.
//!
//! The linker takes them where LLVM has no translation of an instruction, or a wrong or slow one (see `linker::replaced`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache;
use crate::device_crate::{self, Invocation};
use crate::error::{BuildError, IoContext};
use crate::fingerprint;
use crate::sysroot::DeviceSysroot;
use crate::toolchain::Toolchain;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wide_division_tests;

/// The crate's files.
const SOURCES: [(&str, &str); 3] = [
    ("lib.rs", include_str!("device/lib.rs")),
    ("remainder.rs", include_str!("device/remainder.rs")),
    ("wide_division.rs", include_str!("device/wide_division.rs")),
];

/// The folder that line information names for them: a place of no user's code.
pub(crate) const FOLDER: &str = "/warpsmith-builtins";

/// The archive's name in its folder of the cache.
const ARCHIVE: &str = "libwarpsmith_builtins.rlib";

/// The archive; compiles it first where it is missing.
pub(crate) fn find_or_build(
    toolchain: &Toolchain,
    sysroot: &DeviceSysroot,
) -> Result<PathBuf, BuildError> {
    let flags = flags(sysroot);
    let name = format!(
        "builtins-{}-{}",
        toolchain.key(),
        fingerprint::short_hash(&(SOURCES, &flags))
    );
    let folder = cache::once(&cache::folder()?, &name, |folder| {
        build(toolchain, flags, folder)
    })?;
    Ok(folder.join(ARCHIVE))
}

fn flags(sysroot: &DeviceSysroot) -> Vec<String> {
    let mut flags = device_crate::base_flags();
    flags.push(format!("--sysroot={}", sysroot.path.display()));
    flags.push("-Zcrate-attr=feature(asm_experimental_arch,link_llvm_intrinsics)".into());
    flags
}

/// Builds into `folder`, which becomes the folder of the cache.
fn build(toolchain: &Toolchain, flags: Vec<String>, folder: &Path) -> Result<(), BuildError> {
    let package = folder.join("package");
    let source = package.join("src");
    fs::create_dir_all(&source).context("cannot create", &source)?;
    let write = |path: PathBuf, text: &str| fs::write(&path, text).context("cannot write", &path);
    write(
        package.join("Cargo.toml"),
        "[package]\nname = \"warpsmith_builtins\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    )?;
    for (name, text) in SOURCES {
        write(source.join(name), text)?;
    }
    let manifest = package.join("Cargo.toml");
    let mut invocation = Invocation::new(toolchain, &manifest, &package.join("target"));
    invocation.rustflags = flags;
    invocation.last_crate_flags.push(format!(
        "--remap-path-prefix={}={FOLDER}",
        package.display()
    ));
    let built = invocation.run()?;
    let rlib = built
        .archives
        .last()
        .ok_or_else(|| BuildError::Setup("cargo built no archive of the builtins".into()))?;
    let archive = folder.join(ARCHIVE);
    fs::copy(rlib, &archive).context("cannot copy to", &archive)?;
    fs::remove_dir_all(&package).context("cannot remove", &package)
}
