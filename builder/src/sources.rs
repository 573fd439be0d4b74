//! The source files that a build read, from the lists that cargo and rustc leave beside what they make.
//!
//! Up to rustc 1.99, cargo writes one list of everything beside the kernel crate's archive. Newer ones leave it where they
//! made it, with rustc's list of that unit alone; then the lists of all units and what build scripts say are put together.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{BuildError, IoContext};

/// Where the source files of the user's own packages are listed, by cargo's messages.
#[derive(Debug, Default)]
pub(crate) struct SourceLists {
    /// cargo's list of everything, where it writes one.
    pub whole: Option<PathBuf>,
    /// rustc's lists, one for each unit.
    units: Vec<PathBuf>,
    /// The folders that build scripts wrote into, by package.
    scripts: Vec<(String, PathBuf)>,
    /// The folders of packages.
    folders: HashMap<String, PathBuf>,
}

impl SourceLists {
    /// Notes a message of cargo's about something that it compiled.
    pub fn note_unit(&mut self, message: &Value) {
        let Some((package, manifest)) = own_package(message).zip(message["manifest_path"].as_str())
        else {
            return;
        };
        if let Some(folder) = Path::new(manifest).parent() {
            self.folders.insert(package, folder.to_path_buf());
        }
        let files = message["filenames"].as_array().into_iter().flatten();
        let lists = files.filter_map(|file| list_of_unit(Path::new(file.as_str()?)));
        self.units.extend(lists);
    }

    /// Notes a message of cargo's about a build script that ran.
    pub fn note_script(&mut self, message: &Value) {
        if let Some((package, out)) = own_package(message).zip(message["out_dir"].as_str()) {
            self.scripts.push((package, PathBuf::from(out)));
        }
    }

    /// Whether a build script of the user's own ran.
    pub fn has_scripts(&self) -> bool {
        !self.scripts.is_empty()
    }

    /// All source files, absolute and sorted; `workspace` is the folder that rustc's lists start from.
    pub fn read(&self, workspace: &Path) -> Result<Vec<PathBuf>, BuildError> {
        let read = |list: &Path| fs::read_to_string(list).context("cannot read", list);
        let mut sources = match self.whole.as_deref().filter(|list| list.is_file()) {
            Some(list) => parse(&read(list)?),
            None => {
                let mut sources = Vec::new();
                for list in self.units.iter().filter(|list| list.is_file()) {
                    sources.extend(parse(&read(list)?));
                }
                sources.extend(self.watched_by_scripts());
                sources
            }
        };
        if sources.is_empty() {
            return Err(BuildError::Setup(format!(
                "cargo left no list of source files in {}",
                workspace.display()
            )));
        }
        for source in &mut sources {
            *source = workspace.join(&*source);
            // Links (see `module_crate`) lead to the user's own files.
            if let Ok(target) = source.canonicalize() {
                *source = target;
            }
        }
        sources.sort();
        sources.dedup();
        Ok(sources)
    }

    /// What build scripts asked to be run again for.
    fn watched_by_scripts(&self) -> Vec<PathBuf> {
        let mut watched = Vec::new();
        for (package, out) in &self.scripts {
            let (Some(unit), Some(folder)) = (out.parent(), self.folders.get(package)) else {
                continue;
            };
            let output = ["run/stdout", "output"].map(|name| fs::read_to_string(unit.join(name)));
            for line in output.iter().flatten().flat_map(|text| text.lines()) {
                let line = line
                    .strip_prefix("cargo:")
                    .map(|l| l.trim_start_matches(':'));
                let path = line.and_then(|l| l.strip_prefix("rerun-if-changed="));
                watched.extend(path.map(|path| folder.join(path)));
            }
        }
        watched
    }
}

/// The package of a message, if it is one of the user's own.
fn own_package(message: &Value) -> Option<String> {
    let package = message["package_id"].as_str()?;
    package.starts_with("path+").then(|| package.to_owned())
}

/// rustc's list for a file that it made: `lib/libkernels-0123.rlib` has `lib/kernels-0123.d`, a program has its own name.
fn list_of_unit(file: &Path) -> Option<PathBuf> {
    let stem = file.file_stem()?.to_str()?;
    let is_library = file
        .extension()
        .is_some_and(|e| e == "rlib" || e == "rmeta" || e == "so");
    let name = stem
        .strip_prefix("lib")
        .filter(|_| is_library)
        .unwrap_or(stem);
    Some(file.with_file_name(format!("{name}.d")))
}

/// The files of a list in a makefile's syntax: `target: file file\ with\ spaces ...`, the first target's.
fn parse(text: &str) -> Vec<PathBuf> {
    let Some((_, files)) = text.lines().next().and_then(|line| line.split_once(": ")) else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    let mut current = String::new();
    let mut characters = files.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => current.extend(characters.next()),
            ' ' => paths.push(std::mem::take(&mut current)),
            _ => current.push(c),
        }
    }
    paths.push(current);
    paths
        .into_iter()
        .filter(|p| !p.is_empty())
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A workspace with two packages, one of which has a build script, and what either layout of cargo leaves.
    struct Layout {
        folder: tempfile::TempDir,
        lists: SourceLists,
    }

    impl Layout {
        fn new() -> Layout {
            let folder = tempfile::tempdir().unwrap();
            for file in [
                "src/lib.rs",
                "dep/src/lib.rs",
                "dep/build.rs",
                "dep/a file.txt",
            ] {
                write(&folder.path().join(file), "");
            }
            Layout {
                folder,
                lists: SourceLists::default(),
            }
        }

        fn unit(&mut self, package: &str, files: &[&str], list: &str, sources: &str) {
            let root = self.folder.path();
            write(
                &root.join(list),
                &format!("{list}: {sources}\n\n{sources}:\n"),
            );
            let files: Vec<_> = files.iter().map(|file| root.join(file)).collect();
            self.lists.note_unit(&json!({
                "package_id": format!("path+file:///{package}#0.1.0"),
                "manifest_path": root.join(package).join("Cargo.toml"),
                "filenames": files,
            }));
        }

        fn sources(&self) -> Vec<String> {
            let root = self.folder.path().canonicalize().unwrap();
            let read = self.lists.read(&root).unwrap();
            read.iter()
                .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
                .collect()
        }
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    const ALL: [&str; 4] = [
        "dep/a file.txt",
        "dep/build.rs",
        "dep/src/lib.rs",
        "src/lib.rs",
    ];

    #[test]
    fn one_list_of_everything_is_enough() {
        let mut layout = Layout::new();
        layout.unit(
            "",
            &["t/deps/libkernels-1.rmeta"],
            "t/deps/kernels-1.d",
            "src/lib.rs",
        );
        let whole = layout.folder.path().join("t/libkernels.d");
        write(
            &whole,
            "t/libkernels.rlib: dep/a\\ file.txt dep/build.rs dep/src/lib.rs src/lib.rs\n",
        );
        layout.lists.whole = Some(whole);
        assert_eq!(layout.sources(), ALL);
    }

    #[test]
    fn without_it_the_units_and_build_scripts_are_put_together() {
        let mut layout = Layout::new();
        layout.lists.whole = Some(layout.folder.path().join("t/kernels/1/out/libkernels-1.d"));
        let kernels = [
            "t/kernels/1/out/libkernels-1.rlib",
            "t/kernels/1/out/libkernels-1.rmeta",
        ];
        layout.unit("", &kernels, "t/kernels/1/out/kernels-1.d", "src/lib.rs");
        layout.unit(
            "dep",
            &["t/dep/2/out/libdep-2.rlib"],
            "t/dep/2/out/dep-2.d",
            "dep/src/lib.rs",
        );
        layout.unit(
            "dep",
            &["t/dep/3/out/build_script_build"],
            "t/dep/3/out/build_script_build.d",
            "dep/build.rs",
        );
        let root = layout.folder.path();
        write(
            &root.join("t/dep/4/run/stdout"),
            "hello\ncargo::rerun-if-changed=a file.txt\n",
        );
        let script =
            json!({ "package_id": "path+file:///dep#0.1.0", "out_dir": root.join("t/dep/4/out") });
        layout.lists.note_script(&script);
        assert_eq!(layout.sources(), ALL);
    }

    #[test]
    fn no_list_is_an_error_and_packages_of_others_have_none() {
        let mut layout = Layout::new();
        layout.lists.note_unit(&json!({
            "package_id": "registry+https://github.com/rust-lang/crates.io-index#libm@0.2.0",
            "manifest_path": "/r/libm/Cargo.toml",
            "filenames": ["/t/liblibm-1.rlib"],
        }));
        assert!(layout.lists.units.is_empty());
        let error = layout
            .lists
            .read(Path::new("/nowhere"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("no list of source files"), "{error}");
    }
}
