//! Where in the source an instruction comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A location in the source of a kernel, from `.loc`; `file` is empty where the PTX has no line information, and then
/// `line` is the PTX line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    /// File as the compiler recorded it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// Line in the PTX text, from 1.
    pub ptx_line: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            write!(f, "PTX line {}", self.ptx_line)
        } else if self.column == 0 {
            write!(f, "{}:{}", self.file, self.line)
        } else {
            write!(f, "{}:{}:{}", self.file, self.line, self.column)
        }
    }
}

/// A function of the PTX that a thread is in, and the instruction that it has reached there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function's name, as the PTX spells it.
    pub function: String,
    /// The instruction's location: in the innermost of the source functions that the compiler inlined there. In PTX of this
    /// project's builder it is the innermost one of the user's own functions.
    #[serde(default)]
    pub location: Option<SourceLocation>,
    /// The calls that were inlined around `location`, the innermost first; the last one stands in `function` itself.
    #[serde(default)]
    pub inlined: Vec<InlinedCall>,
}

impl Frame {
    /// The location that is the user's: the innermost one on the way of inlining that is in no library (Rust's standard library,
    /// the device library, CUDA's headers). If all are, the innermost one.
    pub fn user_location(&self) -> Option<&SourceLocation> {
        let location = self.location.as_ref()?;
        Some(match self.library_depth() {
            0 => location,
            depth => &self.inlined[depth - 1].call,
        })
    }

    /// Whether all of it is a library's: then the user's line is that of the call.
    pub fn is_library(&self) -> bool {
        self.users().is_none() && self.location.is_some()
    }

    /// How many of the functions that are inlined here are a library's, the innermost ones; 0 if all are.
    pub(super) fn library_depth(&self) -> usize {
        self.users().unwrap_or(0)
    }

    /// The number of the innermost location that is the user's, from the innermost one outwards.
    fn users(&self) -> Option<usize> {
        let locations = self
            .location
            .iter()
            .chain(self.inlined.iter().map(|inlined| &inlined.call));
        // The last one stands in the function itself.
        let last = self.inlined.len();
        locations.enumerate().position(|(number, location)| {
            !(is_library(&location.file) || number == last && is_library_function(&self.function))
        })
    }
}

/// Crates whose functions are no user's.
const LIBRARY_CRATES: &[&str] = &[
    "core",
    "alloc",
    "std",
    "compiler_builtins",
    "warpsmith_device",
];

/// Whether a function, by its mangled name, belongs to a library.
fn is_library_function(name: &str) -> bool {
    let name = format!("{:#}", rustc_demangle::demangle(name));
    // The type of `<T as Trait>::method` is what it belongs to.
    let path = name.trim_start_matches(['<', '&', '[', '(']);
    path.split_once("::")
        .is_some_and(|(first, _)| LIBRARY_CRATES.contains(&first.trim_start_matches("mut ")))
}

/// Parts of the paths of files that are no user's: Rust's standard library, wherever its source lies, and the headers of CUDA and
/// of the host's C library.
const LIBRARY_PATHS: &[&str] = &[
    "/rustc/",
    "/library/core/src/",
    "/library/alloc/src/",
    "/library/std/src/",
    "/usr/include/",
    "/usr/lib/",
    "/cub/",
    "/thrust/",
    "/cuda/std/",
    "/cuda/__",
    "/cooperative_groups/",
    "/cooperative_groups.h",
    "/crt/",
    "/cuda_fp16.h",
    "/cuda_bf16.h",
    "/cuda_fp8.h",
    "_atomic_functions.h",
    "_intrinsics.h",
];

/// Whether a file belongs to a library that no user edits.
fn is_library(file: &str) -> bool {
    LIBRARY_PATHS.iter().any(|part| file.contains(part))
}

/// A call that the compiler replaced by the called function's body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlinedCall {
    /// The function that was called, as the compiler recorded it, if it did.
    #[serde(default)]
    pub function: Option<String>,
    /// Where the call stands.
    pub call: SourceLocation,
}
