//! Source locations of instructions.

use std::path::PathBuf;

use super::context::Context;
use super::sys::{self, MetadataRef};

/// A source location, and the call that it was inlined into.
#[derive(Clone, Copy)]
pub struct Location<'c> {
    raw: MetadataRef,
    context: &'c Context,
}

impl PartialEq for Location<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}
impl Eq for Location<'_> {}
impl std::hash::Hash for Location<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

impl<'c> Location<'c> {
    pub(super) fn new(raw: MetadataRef, context: &'c Context) -> Option<Location<'c>> {
        (!raw.is_null()).then_some(Location { raw, context })
    }

    pub(super) fn raw(self) -> MetadataRef {
        self.raw
    }

    /// The call that brought it here by inlining.
    pub fn inlined_at(self) -> Option<Location<'c>> {
        // SAFETY: `raw` is a location of `context` (`Location::new`), which lives as long as `'c`.
        Location::new(
            unsafe { (self.context.api.LLVMDILocationGetInlinedAt)(self.raw) },
            self.context,
        )
    }

    /// The source file.
    pub fn file(self) -> Option<PathBuf> {
        let api = self.context.api;
        // SAFETY: `raw` is a location of a living context, as `new` was given it; a location has a scope, and the file of a scope
        // may be null.
        let file = unsafe {
            let scope = (api.LLVMDILocationGetScope)(self.raw);
            if scope.is_null() {
                return None;
            }
            (api.LLVMDIScopeGetFile)(scope)
        };
        if file.is_null() {
            return None;
        }
        let text = |get: unsafe extern "C" fn(MetadataRef, *mut u32) -> *const std::ffi::c_char| {
            let mut length = 0;
            // SAFETY: the string lives as long as the context, and is copied.
            unsafe {
                let start = get(file, &mut length);
                if start.is_null() {
                    return String::new();
                }
                String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), length as usize))
                    .into_owned()
            }
        };
        let sys::Api {
            LLVMDIFileGetDirectory: directory,
            LLVMDIFileGetFilename: name,
            ..
        } = *api;
        // A file name that is absolute replaces the folder.
        Some(PathBuf::from(text(directory)).join(text(name)))
    }
}
