//! Scopes of source locations: functions, and the blocks in them.

use std::ffi::{c_char, c_uint};
use std::path::PathBuf;

use super::context::Context;
use super::sys::{self, MetadataRef};

/// Kinds of metadata, as `LLVMGetMetadataKind` numbers them.
mod kind {
    pub const SUBPROGRAM: u32 = 17;
    pub const LEXICAL_BLOCK: u32 = 18;
    pub const LEXICAL_BLOCK_FILE: u32 = 19;
}

/// Operands of scopes, for which the C interface has no functions. Blocks and functions have the scope around them in common.
mod operand {
    pub const SCOPE: usize = 1;
    pub const NAME: usize = 2;
    pub const LINKAGE_NAME: usize = 3;
}

/// A function, or a block in one.
#[derive(Clone, Copy)]
pub struct Scope<'c> {
    raw: MetadataRef,
    context: &'c Context,
}

impl PartialEq for Scope<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}
impl Eq for Scope<'_> {}
impl std::hash::Hash for Scope<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

impl<'c> Scope<'c> {
    pub(super) fn new(raw: MetadataRef, context: &'c Context) -> Option<Scope<'c>> {
        (!raw.is_null()).then_some(Scope { raw, context })
    }

    pub(super) fn raw(self) -> MetadataRef {
        self.raw
    }

    pub(super) fn context(self) -> &'c Context {
        self.context
    }

    /// The function that the scope is, or is in; `None` for what is in no function.
    pub fn subprogram(self) -> Option<Scope<'c>> {
        let mut scope = self;
        loop {
            match scope.kind() {
                kind::SUBPROGRAM => return Some(scope),
                kind::LEXICAL_BLOCK | kind::LEXICAL_BLOCK_FILE => {
                    scope = scope.outer()?;
                }
                _ => return None,
            }
        }
    }

    /// A function's name in the source, without its path; empty if there is none.
    pub fn name(self) -> String {
        self.text(operand::NAME)
    }

    /// A function's symbol; empty if it is not recorded.
    pub fn linkage_name(self) -> String {
        self.text(operand::LINKAGE_NAME)
    }

    /// The source file.
    pub fn file(self) -> Option<PathBuf> {
        let api = self.context.api;
        // SAFETY: `raw` is a scope of a living context (`new`); the file of a scope may be null.
        let file = unsafe { (api.LLVMDIScopeGetFile)(self.raw) };
        if file.is_null() {
            return None;
        }
        let text = |get: unsafe extern "C" fn(MetadataRef, *mut c_uint) -> *const c_char| {
            let mut length = 0;
            // SAFETY: `file` is not null (checked above); the string lives as long as the context, and is copied.
            unsafe { copied(get(file, &mut length), length) }
        };
        let sys::Api {
            LLVMDIFileGetDirectory: directory,
            LLVMDIFileGetFilename: name,
            ..
        } = *api;
        // A file name that is absolute replaces the folder.
        Some(PathBuf::from(text(directory)).join(text(name)))
    }

    fn kind(self) -> u32 {
        // SAFETY: `raw` is metadata of a living context (`new`).
        unsafe { (self.context.api.LLVMGetMetadataKind)(self.raw) }
    }

    /// The scope around a block.
    fn outer(self) -> Option<Scope<'c>> {
        let value = self.operand(operand::SCOPE)?;
        // SAFETY: `operand` returned a value that wraps metadata of this context.
        Scope::new(
            unsafe { (self.context.api.LLVMValueAsMetadata)(value) },
            self.context,
        )
    }

    fn text(self, n: usize) -> String {
        let Some(value) = self.operand(n) else {
            return String::new();
        };
        let mut length = 0;
        // SAFETY: `operand` returned a value that wraps metadata of this context; for what is no string the answer is null.
        unsafe {
            copied(
                (self.context.api.LLVMGetMDString)(value, &mut length),
                length,
            )
        }
    }

    /// An operand of the metadata node, `None` if it has not so many or none there.
    fn operand(self, n: usize) -> Option<sys::ValueRef> {
        let api = self.context.api;
        // SAFETY: `raw` is a scope of a living context (`new`), and scopes are nodes; the list has as many entries as LLVM says
        // that it writes.
        unsafe {
            let value = (api.LLVMMetadataAsValue)(self.context.raw, self.raw);
            let mut operands =
                vec![std::ptr::null_mut(); (api.LLVMGetMDNodeNumOperands)(value) as usize];
            (api.LLVMGetMDNodeOperands)(value, operands.as_mut_ptr());
            operands.get(n).copied().filter(|value| !value.is_null())
        }
    }
}

/// A copy of LLVM's text; empty for null.
///
/// # Safety
///
/// `start` is null or points to `length` readable bytes.
unsafe fn copied(start: *const c_char, length: c_uint) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: not null (checked above), so there are `length` bytes (this function's contract).
    let bytes = unsafe { std::slice::from_raw_parts(start.cast(), length as usize) };
    String::from_utf8_lossy(bytes).into_owned()
}
