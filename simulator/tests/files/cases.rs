//! Where the file tests are: those of an instruction family beside its source, all others in this folder.

use std::path::{Path, PathBuf};

/// A file test.
pub struct Case {
    /// What it is called: `isa/FAMILY.ptx`, or its path in this folder.
    pub name: String,
    pub path: PathBuf,
}

/// All of them, in the order of their names.
pub fn all() -> Vec<Case> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Vec::new();
    collect(&package.join("tests/files"), "", &mut cases);
    collect(&package.join("src/engine/isa"), "isa/", &mut cases);
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn collect(folder: &Path, prefix: &str, cases: &mut Vec<Case>) {
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("an entry of the folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), cases);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            cases.push(Case { name, path });
        }
    }
}
