//! The source that the device's `core` is built from: the toolchain's, in which code is changed that suits a CPU only.
//!
//! The standard library's methods of slices come before those of any trait, so nothing else can give `sorted.partition_point(..)` another
//! algorithm on the device; nor `slice.iter().skip(i).step_by(n)` another loop. The toolchain's own files stay as they are: the copy is a tree of links with the changed files in it, and debug
//! information names the toolchain's files.

mod changes;

use std::collections::HashMap;
use std::fs;
use std::hash::Hasher;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustc_hash::FxHasher;

use crate::error::{BuildError, IoContext};
use changes::CHANGES;

/// What is changed for one reason: in all places, or in none.
struct Change(&'static [Edit]);

/// What is changed in a file.
struct Edit {
    /// The file, below `library`.
    file: &'static str,
    how: How,
}

/// How a file is changed.
enum How {
    /// The body of a method is replaced, which stands behind `signature`.
    Body {
        signature: &'static str,
        lines: &'static str,
    },
    /// A text that stands there once is replaced.
    Text {
        old: &'static str,
        new: &'static str,
    },
    /// Items are added at the end.
    Items(&'static str),
    /// Nothing, but what stands between two texts must have this hash: other edits are right for it alone.
    Nothing {
        from: &'static str,
        to: &'static str,
        hash: u64,
    },
}

/// What ends the body of a method.
const END: &str = "\n    }\n";

/// Makes the source in `folder`, from the toolchain's folder `library`.
pub(crate) fn write(library: &Path, folder: &Path) -> Result<(), BuildError> {
    let mut files = HashMap::new();
    for change in &CHANGES {
        for Edit { file, .. } in change.0 {
            let from = library.join(file);
            if from.is_file() && !files.contains_key(file) {
                let source = fs::read_to_string(&from).context("cannot read", &from)?;
                files.insert(*file, source);
            }
        }
    }
    CHANGES.iter().for_each(|change| {
        make(change, &mut files);
    });
    let files: Vec<_> = files
        .into_iter()
        .map(|(file, text)| (PathBuf::from(file), text))
        .collect();
    link_but(library, folder, &files)
}

/// Makes a change in the texts of files, if each of its edits can be made; whether it did.
fn make(change: &Change, files: &mut HashMap<&str, String>) -> bool {
    let mut changed: HashMap<&str, String> = HashMap::new();
    for edit in change.0 {
        let source = changed.get(edit.file).or_else(|| files.get(edit.file));
        let Some(text) = source.and_then(|source| edit.how.applied_to(source)) else {
            return false;
        };
        changed.insert(edit.file, text);
    }
    files.extend(changed);
    true
}

impl How {
    /// The source with the change, `None` if it has not what is to be changed.
    fn applied_to(&self, source: &str) -> Option<String> {
        match self {
            How::Body { signature, lines } => {
                let begin = source.find(signature)? + signature.len();
                let (before, rest) = source.split_at(begin);
                let (_, behind) = rest.split_once(END)?;
                let lines = lines.trim_end_matches('\n');
                Some([before, lines, END, behind].concat())
            }
            How::Text { old, new } => {
                let (before, behind) = source.split_once(old)?;
                (!behind.contains(old)).then(|| [before, new, behind].concat())
            }
            How::Items(items) => Some([source, items].concat()),
            How::Nothing { from, to, hash } => {
                let (_, behind) = source.split_once(from)?;
                let (between, _) = behind.split_once(to)?;
                (hash_of(between) == *hash).then(|| source.into())
            }
        }
    }
}

/// The hash of a text.
fn hash_of(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
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
    use crate::core_source;
    use crate::toolchain::Toolchain;

    const LIST: &str = "core/src/list.rs";

    /// The second edit is for the source with the first one.
    const CHANGE: Change = Change(&[
        Edit {
            file: LIST,
            how: How::Body {
                signature: "    fn two() -> u32 {\n",
                lines: "        1 + 1\n",
            },
        },
        Edit {
            file: LIST,
            how: How::Text {
                old: "fn three()",
                new: "fn four()",
            },
        },
        Edit {
            file: LIST,
            how: How::Items("struct B;\n"),
        },
    ]);

    fn source(body: &str, third: &str, end: &str) -> String {
        format!(
            "impl A {{\n    fn one() {{\n    }}\n    fn two() -> u32 {{\n{body}\n    }}\n\n    fn {third}() {{\n    }}\n}}\n{end}"
        )
    }

    fn made(change: &Change, text: String) -> (bool, String) {
        let mut files = HashMap::from([(LIST, text)]);
        (make(change, &mut files), files.remove(LIST).unwrap())
    }

    #[test]
    fn all_edits_are_made_and_nothing_else() {
        let old = source("        loop {\n        }\n        2", "three", "");
        let new = source("        1 + 1", "four", "struct B;\n");
        assert_eq!(made(&CHANGE, old), (true, new));
    }

    #[test]
    fn a_toolchain_without_one_of_the_places_keeps_its_source() {
        let others = [
            source("        2", "five", ""),
            source("        2", "three", "fn three() {}\n"),
            source("        2", "three", "").replace("u32", "u64"),
            String::new(),
        ];
        for other in others {
            assert_eq!(made(&CHANGE, other.clone()), (false, other));
        }
    }

    #[test]
    fn a_change_is_not_made_beside_other_code() {
        let nothing = |hash| {
            How::Nothing {
                from: "fn one() {",
                to: "fn two()",
                hash,
            }
            .applied_to("fn one() { a } fn two()")
        };
        assert!(nothing(hash_of(" a } ")).is_some());
        assert_eq!(nothing(hash_of(" b } ")), None);
    }

    #[test]
    fn this_toolchain_gets_all_changes() {
        let toolchain = Toolchain::find().unwrap();
        let release = toolchain.release().unwrap();
        let library = core_source::find_or_fetch(&toolchain).unwrap();
        let read = |file: &str| fs::read_to_string(library.join(file)).unwrap();
        for change in &CHANGES {
            let file = change.0[0].file;
            let files = change.0.iter().map(|edit| (edit.file, read(edit.file)));
            let is_made = make(change, &mut files.collect());
            // Its `reduce` may be evaluated at compile time, and calls nothing that may not.
            let is_left_out = file == changes::ITERATOR && release.minor >= 97;
            assert_eq!(is_made, !is_left_out, "{file}");
        }
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
