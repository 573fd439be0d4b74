//! Gives each instruction the user's own source line.
//!
//! After inlining, most instructions of a kernel come from `core` (`ptr::add`, `Range::next`, ...) or from the
//! device library, and PTX's `.loc` can name one line only. A profile or a report of a fault is about the line
//! of the kernel that led there. So each location is replaced by the innermost one on its way of inlining that is
//! in the user's code; in a function of a library that was not inlined, by the one in that function.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::llvm::{Location, Module};

/// Rewrites all locations. `libraries`: folders whose code is not the user's.
pub(super) fn attribute(module: &Module<'_>, libraries: &[PathBuf]) {
    let mut known: HashMap<Location<'_>, Option<Location<'_>>> = HashMap::new();
    for function in module.functions() {
        for instruction in function.instructions() {
            let Some(location) = instruction.debug_location() else {
                continue;
            };
            let own = *known.entry(location).or_insert_with(|| {
                let is_own = |l: &Location<'_>| {
                    l.file().is_some_and(|file| {
                        !libraries.iter().any(|folder| file.starts_with(folder))
                    })
                };
                let way = || std::iter::successors(Some(location), |l| l.inlined_at());
                way().find(is_own).or_else(|| way().last())
            });
            if let Some(own) = own.filter(|own| *own != location) {
                instruction.set_debug_location(own);
            }
        }
    }
}
