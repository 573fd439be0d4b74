//! Gives the crate a fingerprint of its own source, so that PTX made by another version of the builder is
//! not taken for this one's.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=src");
    let mut hasher = DefaultHasher::new();
    hash_folder(Path::new("src"), &mut hasher);
    println!(
        "cargo:rustc-env=WARPSMITH_BUILDER_FINGERPRINT={:016x}",
        hasher.finish()
    );
}

fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            hash_folder(&path, hasher);
        } else {
            path.hash(hasher);
            std::fs::read(&path).unwrap_or_default().hash(hasher);
        }
    }
}
