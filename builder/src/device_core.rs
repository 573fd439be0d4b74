//! The source that the device's `core` is built from: the toolchain's, in which functions are replaced whose algorithm suits a CPU only.
//!
//! The standard library's methods of slices come before those of any trait, so nothing else can give `sorted.partition_point(..)` another
//! algorithm on the device. The toolchain's own files stay as they are: the copy is a tree of links with the changed files in it, and debug
//! information names the toolchain's files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::error::{BuildError, IoContext};

/// A method whose body is replaced.
struct Replacement {
    /// Its file, below `library`.
    file: &'static str,
    /// What stands before the body.
    signature: &'static str,
    /// The lines of the body.
    body: &'static str,
}

/// All of them. One that a toolchain's source does not have is left out: then the method is as slow as it was.
const REPLACEMENTS: [Replacement; 1] = [Replacement {
    file: "core/src/slice/mod.rs",
    signature: "    pub fn binary_search_by<'a, F>(&'a self, mut f: F) -> Result<usize, usize>
    where
        F: FnMut(&'a T) -> Ordering,
    {
",
    body: include_str!("device_core/binary_search_by.in"),
}];

/// What ends the body of a method.
const END: &str = "\n    }\n";

/// Makes the source in `folder`, from the toolchain's folder `library`.
pub(crate) fn write(library: &Path, folder: &Path) -> Result<(), BuildError> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for replacement in &REPLACEMENTS {
        let from = library.join(replacement.file);
        let source = fs::read_to_string(&from).context("cannot read", &from)?;
        if let Some(replaced) = replace(&source, replacement) {
            files.push((PathBuf::from(replacement.file), replaced));
        }
    }
    link_but(library, folder, &files)
}

/// The source with the body of the method replaced, `None` if it has no such method.
fn replace(source: &str, replacement: &Replacement) -> Option<String> {
    let begin = source.find(replacement.signature)? + replacement.signature.len();
    let (before, rest) = source.split_at(begin);
    let (_, behind) = rest.split_once(END)?;
    let body = replacement.body.trim_end_matches('\n');
    Some([before, body, END, behind].concat())
}

/// Fills `folder` with links to what is in `from`, but for `files`, of which it gets these texts.
fn link_but(from: &Path, folder: &Path, files: &[(PathBuf, String)]) -> Result<(), BuildError> {
    fs::create_dir_all(folder).context("cannot create", folder)?;
    for entry in fs::read_dir(from).context("cannot read", from)? {
        let name = entry.context("cannot read", from)?.file_name();
        let (old, new) = (from.join(&name), folder.join(&name));
        let inside: Vec<_> = files
            .iter()
            .filter_map(|(path, text)| Some((path.strip_prefix(&name).ok()?, text)))
            .map(|(path, text)| (path.to_path_buf(), text.clone()))
            .collect();
        match &inside[..] {
            [] => symlink(&old, &new).context("cannot link", &new)?,
            [(path, text)] if path.as_os_str().is_empty() => {
                fs::write(&new, text).context("cannot write", &new)?
            }
            _ => link_but(&old, &new, &inside)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHOD: Replacement = Replacement {
        file: "core/src/list.rs",
        signature: "    fn two() -> u32 {\n",
        body: "        1 + 1\n",
    };

    #[test]
    fn a_body_is_replaced_and_nothing_else() {
        let source = |body: &str| {
            format!(
                "impl A {{\n    fn one() {{\n    }}\n    fn two() -> u32 {{\n{body}\n    }}\n\n    fn three() {{\n    }}\n}}\n"
            )
        };
        let old = source("        loop {\n        }\n        2");
        assert_eq!(replace(&old, &METHOD), Some(source("        1 + 1")));
    }

    #[test]
    fn a_toolchain_without_the_method_keeps_its_source() {
        assert_eq!(
            replace("impl A {\n    fn two() -> u64 {\n    }\n}\n", &METHOD),
            None
        );
    }

    #[test]
    fn a_folder_is_linked_but_for_its_changed_files() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("core/src")).unwrap();
        fs::create_dir_all(from.join("alloc")).unwrap();
        for file in ["core/src/list.rs", "core/src/other.rs", "alloc/lib.rs"] {
            fs::write(from.join(file), file).unwrap();
        }
        link_but(&from, &to, &[("core/src/list.rs".into(), "new".into())]).unwrap();
        let read = |file: &str| fs::read_to_string(to.join(file)).unwrap();
        assert_eq!(read("core/src/list.rs"), "new");
        assert_eq!(read("core/src/other.rs"), "core/src/other.rs");
        assert!(to.join("alloc").is_symlink() && !to.join("core").is_symlink());
        assert_eq!(
            fs::read_to_string(from.join("core/src/list.rs")).unwrap(),
            "core/src/list.rs",
            "the toolchain's file stays as it is"
        );
    }
}
