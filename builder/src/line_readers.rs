//! Whether code may have the numbers of its lines in it other than as places of instructions and of panics: then PTX cannot be mended where
//! lines have moved.
//!
//! Numbers come from `line!`, from a `Location`'s `line`, from `gpu_assert!`, and from procedural macros. A macro that leads to one of them
//! names it, too, and is looked for where it is defined.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::comments::{PieceKind, pieces};

/// The names that lead to numbers of lines.
const NAMES: [&str; 5] = [
    "line",
    "Location",
    "caller_location",
    "gpu_assert",
    "gpu_debug_assert",
];

/// Crates of procedural macros that are known to make nothing of positions: derivations that device crates use.
const HARMLESS: [&str; 3] = ["bytemuck_derive", "serde_derive", "zerocopy_derive"];

/// The crate of the device library's macros.
pub(crate) const DEVICE_MACROS: &str = "warpsmith_macros";

/// Whether a source names what leads to numbers of lines.
pub(crate) fn names_one(source: &str) -> bool {
    let mut words = pieces(source).filter(|(kind, _)| *kind == PieceKind::Word);
    words.any(|(_, word)| NAMES.contains(&word))
}

/// Whether a source in the folder does, or cannot be read.
pub(crate) fn is_in_folder(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return true;
    };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            is_in_folder(&path)
        } else {
            path.extension().is_some_and(|extension| extension == "rs")
                && fs::read_to_string(&path).map_or(true, |source| names_one(&source))
        }
    })
}

/// Whether cargo's message is about a crate of procedural macros that may read positions.
pub(crate) fn is_unknown_macro(message: &Value) -> bool {
    let kinds = message["target"]["kind"].as_array();
    let is_macro = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "proc-macro"));
    let name = message["target"]["name"].as_str().unwrap_or_default();
    let package = message["package_id"].as_str().unwrap_or_default();
    // Those of the device library's that do are among the names.
    let is_known =
        name == DEVICE_MACROS || HARMLESS.contains(&name) && package.starts_with("registry+");
    is_macro && !is_known
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_found_in_code_alone() {
        for source in [
            "line!()",
            "core :: line ! ()",
            "use core::line as number;",
            "info.location().unwrap().line()",
            "at!(r#line)",
            "gpu_assert!(x > 0)",
            "const HERE: &Location<'_> = Location::caller();",
        ] {
            assert!(names_one(source), "{source}");
        }
        for source in [
            "// line!()",
            "/// A line.",
            "let text = \"line\";",
            "lines",
            "column",
        ] {
            assert!(!names_one(source), "{source}");
        }
    }

    #[test]
    fn folders_are_searched() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/b.rs"), "fn a() {} // line").unwrap();
        fs::write(folder.path().join("line.txt"), "line").unwrap();
        assert!(!is_in_folder(folder.path()));
        fs::write(
            folder.path().join("a/c.rs"),
            "macro_rules! here { () => { line!() } }",
        )
        .unwrap();
        assert!(is_in_folder(folder.path()));
        assert!(is_in_folder(&folder.path().join("nothing")));
    }

    #[test]
    fn macros_are_known_by_crate_and_origin() {
        let is_unknown = |kind: &str, name: &str, package: &str| {
            let target = json!({ "kind": [kind], "name": name });
            is_unknown_macro(&json!({ "target": target, "package_id": package }))
        };
        assert!(!is_unknown(
            "proc-macro",
            "warpsmith_macros",
            "path+file:///device/macros#0.1.0"
        ));
        assert!(!is_unknown(
            "proc-macro",
            "serde_derive",
            "registry+https://a#1.0.0"
        ));
        assert!(is_unknown(
            "proc-macro",
            "serde_derive",
            "path+file:///serde_derive#1.0.0"
        ));
        assert!(is_unknown(
            "proc-macro",
            "place_macros",
            "registry+https://a#1.0.0"
        ));
        assert!(!is_unknown("lib", "places", "registry+https://a#1.0.0"));
    }
}
