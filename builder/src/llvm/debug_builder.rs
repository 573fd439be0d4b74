//! New debug information.

use super::context::Context;
use super::module::Module;
use super::scope::Scope;
use super::sys::{self, MetadataRef};

/// Makes debug information for one module.
pub struct DebugBuilder<'m, 'c> {
    raw: sys::DebugBuilderRef,
    context: &'c Context,
    /// The builder keeps a reference to it.
    _module: std::marker::PhantomData<&'m Module<'c>>,
}

/// A source file that a [`DebugBuilder`] made.
#[derive(Clone, Copy)]
pub struct SourceFile<'c> {
    raw: MetadataRef,
    _context: std::marker::PhantomData<&'c Context>,
}

impl<'m, 'c> DebugBuilder<'m, 'c> {
    /// A builder for `module`.
    pub fn new(module: &'m Module<'c>) -> DebugBuilder<'m, 'c> {
        let context = module.context;
        // SAFETY: the module lives as long as the builder, by the builder's lifetime.
        let raw = unsafe { (context.api.LLVMCreateDIBuilder)(module.raw) };
        DebugBuilder {
            raw,
            context,
            _module: std::marker::PhantomData,
        }
    }

    /// A source file by its absolute path.
    pub fn file(&self, path: &str) -> SourceFile<'c> {
        // SAFETY: the builder is live until its drop; both strings are copied, the second is empty.
        let raw = unsafe {
            (self.context.api.LLVMDIBuilderCreateFile)(
                self.raw,
                path.as_ptr().cast(),
                path.len(),
                c"".as_ptr(),
                0,
            )
        };
        SourceFile {
            raw,
            _context: std::marker::PhantomData,
        }
    }

    /// A part of the function `subprogram` that is in another file.
    pub fn part_in_file(&self, subprogram: Scope<'c>, file: SourceFile<'c>) -> Option<Scope<'c>> {
        // SAFETY: function and file are metadata of this builder's context (the invariants of `Scope` and `SourceFile`).
        let raw = unsafe {
            (self.context.api.LLVMDIBuilderCreateLexicalBlockFile)(
                self.raw,
                subprogram.raw(),
                file.raw,
                0,
            )
        };
        Scope::new(raw, self.context)
    }
}

impl Drop for DebugBuilder<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: owned; what it made belongs to the context.
        unsafe { (self.context.api.LLVMDisposeDIBuilder)(self.raw) }
    }
}
