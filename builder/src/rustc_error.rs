//! An error of rustc's as data: what it says and where, read from cargo's JSON messages.

use std::path::Path;

use serde_json::Value;

use crate::hints;
use crate::source_location::SourceLocation;

/// An error that rustc found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RustcError {
    /// The code, as in `E0308`.
    pub code: Option<String>,
    /// What it says in one line.
    pub message: String,
    /// The labels of the place, the notes and the help, each in a line of its own.
    pub details: Vec<String>,
    /// Where. In the expansion of a macro: where the macro is called.
    pub location: Option<SourceLocation>,
    /// Whether the compilation of the same source for the host has the same error. Known in a build script only.
    pub on_host: bool,
}

impl RustcError {
    /// Reads a message of `rustc --error-format=json`, if it is an error with a place or a code (the last one only counts the
    /// others). `folder` is the one that rustc ran in; the file's path becomes absolute, with links followed.
    pub(crate) fn read(message: &Value, folder: &Path) -> Option<RustcError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let is_error = message["level"]
            .as_str()
            .is_some_and(|level| level.starts_with("error"));
        let code = message["code"]["code"].as_str().map(str::to_owned);
        let spans = message["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let primary = spans.iter().find(|span| span["is_primary"] == true);
        if !is_error || (code.is_none() && primary.is_none()) {
            return None;
        }
        let label = primary
            .and_then(|span| span["label"].as_str())
            .map(str::to_owned);
        let children = message["children"].as_array().into_iter().flatten();
        let children =
            children.map(|child| format!("{}: {}", text(&child["level"]), text(&child["message"])));
        let help = hints::hint(&text(&message["message"])).map(|hint| format!("help: {hint}"));
        Some(RustcError {
            code,
            message: text(&message["message"]),
            details: label.into_iter().chain(children).chain(help).collect(),
            location: primary.and_then(|span| location(span, folder)),
            on_host: false,
        })
    }
}

/// The place of a span; of one in the expansion of a macro, the place where the user calls the macro.
fn location(span: &Value, folder: &Path) -> Option<SourceLocation> {
    let call = &span["expansion"]["span"];
    if call.is_object() {
        return location(call, folder);
    }
    let file = folder.join(span["file_name"].as_str()?);
    let number = |name: &str| span[name].as_u64().and_then(|n| u32::try_from(n).ok());
    Some(SourceLocation {
        file: file
            .canonicalize()
            .unwrap_or(file)
            .to_string_lossy()
            .into_owned(),
        line: number("line_start")?,
        column: number("column_start")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_macro_is_that_of_its_call() {
        let message = serde_json::json!({
            "level": "error",
            "code": {"code": "E0425"},
            "message": "cannot find value `a`",
            "children": [{"level": "help", "message": "write `b`"}],
            "spans": [{
                "is_primary": true, "label": "not found", "file_name": "/rustc/core/macros.rs", "line_start": 7, "column_start": 9,
                "expansion": {"span": {"file_name": "src/kernels.rs", "line_start": 3, "column_start": 5, "expansion": null}},
            }],
        });
        let error = RustcError::read(&message, Path::new("/nowhere")).expect("an error");
        let location = error.location.expect("a place");
        assert_eq!(location.to_string(), "/nowhere/src/kernels.rs:3:5");
        assert_eq!(error.details, ["not found", "help: write `b`"]);
    }

    #[test]
    fn warnings_and_the_count_of_errors_are_no_errors() {
        let warning = serde_json::json!({"level": "warning", "code": {"code": "unused"}, "message": "", "spans": []});
        let count =
            serde_json::json!({"level": "error", "code": null, "message": "aborting", "spans": []});
        for message in [warning, count] {
            assert_eq!(RustcError::read(&message, Path::new("/")), None);
        }
    }
}
