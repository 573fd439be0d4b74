//! Where the file tests are: those of an instruction family beside its source, all others in this folder.

use std::path::{Path, PathBuf};

/// A file test.
pub struct Case {
    /// What it is called: `isa/FAMILY.ptx`, or its path in this folder.
    pub name: String,
    pub path: PathBuf,
}

/// Those whose names are wanted, in the order of their names.
pub fn those(is_wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Vec::new();
    collect(&package.join("tests/files"), "", &is_wanted, &mut cases);
    collect(
        &package.join("src/engine/isa"),
        "isa/",
        &is_wanted,
        &mut cases,
    );
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn collect(folder: &Path, prefix: &str, is_wanted: &impl Fn(&str) -> bool, cases: &mut Vec<Case>) {
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let entry = entry.expect("an entry of the folder");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().is_ok_and(|found| found.is_dir()) {
            collect(&entry.path(), &format!("{name}/"), is_wanted, cases);
        } else if name.ends_with(".ptx") && is_wanted(&name) {
            let path = entry.path();
            cases.push(Case { name, path });
        }
    }
}
