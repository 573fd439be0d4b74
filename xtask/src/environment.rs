//! Every environment variable that xtask reads or sets for its children, in one module.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where a child of `bench build` finds the folder that it is to build.
pub const BENCH_BUILD_FOLDER: &str = "WARPSMITH_BENCH_BUILD_FOLDER";
/// The builder's cache.
pub const CACHE: &str = "WARPSMITH_CACHE";
/// The device that tests and the suite open.
pub const DEVICE: &str = "WARPSMITH_DEVICE";

/// The cargo that runs xtask, else the one on the `PATH`.
pub fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The compiler that cargo is told to use, else the one on the `PATH`.
pub fn rustc() -> OsString {
    std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// The folder to build, in a child of `bench build`.
pub fn bench_build_folder() -> Option<PathBuf> {
    std::env::var_os(BENCH_BUILD_FOLDER).map(PathBuf::from)
}
