//! Crates from a registry, compiled once for all workspaces.
//!
//! Each workspace has a target folder of its own, because cargo tells the crates of a workspace apart by their
//! path in it. A crate from a registry is the same everywhere: cargo names each compiled unit of it by a hash of
//! its version, features and flags. So after a build the units of registry crates are kept in a folder beside the
//! workspaces', and a workspace's first build starts with them. cargo checks them like its own.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::Path;

use crate::toolchain::TARGET;

/// The folders of a target folder that hold units, those first that must be complete when the last is seen.
const FOLDERS: [&str; 3] = ["deps", "build", ".fingerprint"];

/// The hash in the name of a unit's file or folder: `libsyn-3dca148cb31c0fc2.rlib`, `syn-3dca148cb31c0fc2`. From 1.100 on
/// cargo's nightly features put a unit into `build/syn/3dca148cb31c0fc2`, where the hash is the name.
pub(crate) fn unit_of(name: &str) -> Option<&str> {
    let stem = name.split('.').find(|part| !part.is_empty())?;
    let hash = stem.rsplit_once('-').map_or(stem, |(_, hash)| hash);
    (hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit())).then_some(hash)
}

/// Keeps the given units of the target folder `from` in `shared`, unless they are there.
pub(crate) fn keep(from: &Path, shared: &Path, units: &BTreeSet<String>) -> io::Result<()> {
    transfer(from, shared, &|name| {
        unit_of(name).is_some_and(|unit| units.contains(unit))
    })
}

/// Starts the target folder `to` with all units in `shared`.
pub(crate) fn seed(shared: &Path, to: &Path) -> io::Result<()> {
    transfer(shared, to, &|_| true)
}

fn transfer(from: &Path, to: &Path, wanted: &dyn Fn(&str) -> bool) -> io::Result<()> {
    for profile in ["release".to_owned(), format!("{TARGET}/release")] {
        for folder in FOLDERS {
            let (from, to) = (
                from.join(&profile).join(folder),
                to.join(&profile).join(folder),
            );
            let Ok(entries) = fs::read_dir(&from) else {
                continue;
            };
            for entry in entries {
                let name = entry?.file_name();
                let (from, to) = (from.join(&name), to.join(&name));
                let is_unit = unit_of(&name.to_string_lossy()).is_some();
                if is_unit || !from.is_dir() {
                    transfer_unit(&from, &to, wanted)?;
                    continue;
                }
                // A package's folder, with a folder for each unit.
                for unit in fs::read_dir(&from)? {
                    let unit = unit?.file_name();
                    transfer_unit(&from.join(&unit), &to.join(&unit), wanted)?;
                }
            }
        }
    }
    Ok(())
}

/// Copies a file or folder of a unit, if it is wanted and not there.
fn transfer_unit(from: &Path, to: &Path, wanted: &dyn Fn(&str) -> bool) -> io::Result<()> {
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    if !wanted(&name) || to.exists() {
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    copy(from, to)
}

/// Copies a file or folder with its times, by which cargo sees what is newer than what.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(from)? {
            names.push(entry?.file_name());
        }
        // What says that the unit is complete comes last.
        names.sort_by_key(|name| name == "fingerprint");
        for name in names {
            copy(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    // rustc replaces libraries and never writes into them, so they can be one file; small files are written into.
    let is_library = from
        .extension()
        .is_some_and(|e| e == "rlib" || e == "rmeta" || e == "so");
    if is_library && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    let modified = fs::metadata(from)?.modified()?;
    File::options()
        .write(true)
        .open(to)?
        .set_times(FileTimes::new().set_modified(modified))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known_by_their_hash() {
        assert_eq!(
            unit_of("libsyn-3dca148cb31c0fc2.rlib"),
            Some("3dca148cb31c0fc2")
        );
        assert_eq!(
            unit_of("proc-macro2-d4d08f5a5d3dc913"),
            Some("d4d08f5a5d3dc913")
        );
        assert_eq!(unit_of("syn-3dca148cb31c0fc2.d"), Some("3dca148cb31c0fc2"));
        assert_eq!(unit_of("3dca148cb31c0fc2"), Some("3dca148cb31c0fc2"));
        assert_eq!(unit_of("libkernels.rlib"), None);
        assert_eq!(unit_of("proc-macro2"), None);
    }

    #[test]
    fn only_the_units_asked_for_are_kept_and_given_on() {
        let folder = tempfile::tempdir().unwrap();
        let (one, shared, two) = (
            folder.path().join("one"),
            folder.path().join("shared"),
            folder.path().join("two"),
        );
        let files = [
            "release/deps/libsyn-0000000000000001.rlib",
            "release/.fingerprint/syn-0000000000000001/lib-syn",
            "nvptx64-nvidia-cuda/release/deps/half-0000000000000002.d",
            "nvptx64-nvidia-cuda/release/build/libm/0000000000000002/out/libm.rlib",
            "nvptx64-nvidia-cuda/release/deps/kernels-0000000000000003.d",
            "release/deps/libkernels.rlib",
        ];
        for file in files {
            let path = one.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let units = ["0000000000000001", "0000000000000002"]
            .map(String::from)
            .into();
        keep(&one, &shared, &units).unwrap();
        seed(&shared, &two).unwrap();
        for (number, file) in files.iter().enumerate() {
            assert_eq!(two.join(file).exists(), number < 4, "{file}");
        }
        let time = |root: &Path| {
            fs::metadata(root.join(files[2]))
                .unwrap()
                .modified()
                .unwrap()
        };
        assert_eq!(time(&one), time(&two));
        // Again: nothing to do, no error.
        keep(&one, &shared, &units).unwrap();
    }
}
