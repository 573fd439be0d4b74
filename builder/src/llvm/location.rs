//! Source locations of instructions.

use super::context::Context;
use super::scope::Scope;
use super::sys::MetadataRef;

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

    /// A location in `scope`, inlined nowhere.
    pub fn in_scope(scope: Scope<'c>, line: u32) -> Option<Location<'c>> {
        let context = scope.context();
        // SAFETY: `scope` is one of this living context (the invariant of `Scope`); a location may be inlined nowhere.
        let raw = unsafe {
            (context.api.LLVMDIBuilderCreateDebugLocation)(
                context.raw,
                line,
                0,
                scope.raw(),
                std::ptr::null_mut(),
            )
        };
        Location::new(raw, context)
    }

    pub(super) fn raw(self) -> MetadataRef {
        self.raw
    }

    /// The call that brought it here by inlining.
    pub fn inlined_at(self) -> Option<Location<'c>> {
        // SAFETY: `raw` is a location of a living context (`new`).
        let raw = unsafe { (self.context.api.LLVMDILocationGetInlinedAt)(self.raw) };
        Location::new(raw, self.context)
    }

    /// The innermost function or block around it.
    pub fn scope(self) -> Option<Scope<'c>> {
        // SAFETY: `raw` is a location of a living context (`new`).
        let raw = unsafe { (self.context.api.LLVMDILocationGetScope)(self.raw) };
        Scope::new(raw, self.context)
    }

    /// The line, from 1; 0 where the compiler knows none.
    pub fn line(self) -> u32 {
        // SAFETY: `raw` is a location of a living context (`new`).
        unsafe { (self.context.api.LLVMDILocationGetLine)(self.raw) }
    }

    /// The column, from 1; 0 if unknown.
    pub fn column(self) -> u32 {
        // SAFETY: `raw` is a location of a living context (`new`).
        unsafe { (self.context.api.LLVMDILocationGetColumn)(self.raw) }
    }
}
