//! Paths in the workspace.

use std::path::{Path, PathBuf};

/// The workspace's root folder.
///
/// Taken from where this crate was compiled: `cargo xtask` always runs from a checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is one folder below the workspace's root")
        .to_path_buf()
}
