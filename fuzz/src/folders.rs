//! Where things lie.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The workspace's root, from where this crate was compiled: the fuzzers run from a checkout.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package is one folder below the workspace's root")
        .to_path_buf()
}

/// The folder of what is made on the way; it is created.
pub fn scratch() -> Result<PathBuf> {
    let folder = workspace().join("target").join("fuzz");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// The folder of a kind's cases.
pub fn cases(kind: &str) -> PathBuf {
    workspace().join("fuzz").join("cases").join(kind)
}

/// A kind's cases, in the order of their names; none where there is no folder.
pub fn case_files(kind: &str) -> Result<Vec<PathBuf>> {
    let folder = cases(kind);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries =
        fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}
