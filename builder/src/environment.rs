//! Every environment variable that the builder reads, in one module. Empty ones count as not set.

use std::ffi::OsString;
use std::path::PathBuf;

/// Variables whose change makes cargo run a build script again that builds kernels.
pub(crate) const RERUN_IF_CHANGED: [&str; 2] = ["WARPSMITH_CACHE", "RUSTUP_TOOLCHAIN"];

/// What a build script sets for its package: the PTX files that it has written, with tabs between.
pub const PTX_FILES: &str = "WARPSMITH_PTX_FILES";

/// The rustc to ask: `$RUSTC` (cargo sets it for build scripts), else `rustc`.
pub(crate) fn rustc() -> OsString {
    set("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// The cache folder: `$WARPSMITH_CACHE`, else `$XDG_CACHE_HOME/warpsmith`, else `~/.cache/warpsmith`.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    path("WARPSMITH_CACHE")
        .or_else(|| path("XDG_CACHE_HOME").map(|p| p.join("warpsmith")))
        .or_else(|| path("HOME").map(|p| p.join(".cache/warpsmith")))
}

/// `$WARPSMITH_PTXAS`: the assembler to use.
pub(crate) fn ptxas() -> Option<PathBuf> {
    path("WARPSMITH_PTXAS")
}

/// The folders with programs, in the order to look in: `$PATH`, then `bin` of `$CUDA_HOME`, `$CUDA_PATH` and `/usr/local/cuda`.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    let on_path = set("PATH").map(|p| std::env::split_paths(&p).collect::<Vec<_>>());
    let toolkits = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(path)
        .chain([PathBuf::from("/usr/local/cuda")]);
    on_path
        .into_iter()
        .flatten()
        .chain(toolkits.map(|toolkit| toolkit.join("bin")))
        .collect()
}

/// `$WARPSMITH_DUMP_IR`: a folder for the LLVM IR before and after optimisation.
pub(crate) fn ir_folder() -> Option<PathBuf> {
    path("WARPSMITH_DUMP_IR")
}

/// The folder of the package whose build script this process is, `None` in any other process.
pub(crate) fn build_script_package() -> Option<PathBuf> {
    let is_build_script = ["OUT_DIR", "CARGO_MANIFEST_DIR", "TARGET", "HOST"]
        .iter()
        .all(|variable| std::env::var_os(variable).is_some());
    path("CARGO_MANIFEST_DIR").filter(|_| is_build_script)
}

/// `$OUT_DIR` of a build script.
pub(crate) fn out_folder() -> Option<PathBuf> {
    path("OUT_DIR")
}

/// Variables of an outer cargo, clippy or coverage tool that change what an inner cargo does.
const OF_OUTER_BUILDS: &[&str] = &[
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "RUSTDOCFLAGS",
    "CARGO_ENCODED_RUSTDOCFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CLIPPY_ARGS",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_INCREMENTAL",
    "CARGO_BUILD_INCREMENTAL",
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC",
    "RUSTDOC",
    "TARGET",
    "HOST",
    "OUT_DIR",
    "OPT_LEVEL",
    "DEBUG",
    "PROFILE",
    "NUM_JOBS",
    "MIRI_SYSROOT",
    "__CARGO_DEFAULT_LIB_METADATA",
];

/// What they begin with, where cargo makes up the rest.
const PREFIXES_OF_OUTER_BUILDS: &[&str] = &[
    "CARGO_FEATURE_",
    "CARGO_CFG_",
    "CARGO_PKG_",
    "CARGO_MANIFEST_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "DEP_",
];

/// The names of the set variables that must not reach an inner cargo.
pub(crate) fn of_outer_builds() -> impl Iterator<Item = OsString> {
    std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| is_of_outer_builds(&name.to_string_lossy()))
}

fn is_of_outer_builds(name: &str) -> bool {
    let begins_with = |prefix: &&str| name.starts_with(prefix);
    OF_OUTER_BUILDS.contains(&name) || PREFIXES_OF_OUTER_BUILDS.iter().any(begins_with)
}

fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn path(name: &str) -> Option<PathBuf> {
    set(name).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shapes_an_outer_build_does_not_shape_kernels() {
        // Without incremental data rustc divides a crate in another way, and kernels differ.
        for name in [
            "CARGO_INCREMENTAL",
            "RUSTFLAGS",
            "CARGO_PROFILE_RELEASE_LTO",
        ] {
            assert!(is_of_outer_builds(name), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_NET_OFFLINE", "PATH"] {
            assert!(!is_of_outer_builds(name), "{name}");
        }
    }
}
