//! Contexts, and what LLVM reports to them.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::OnceLock;

use super::sys::{self, Api};

/// An LLVM context: owner of everything made in it. LLVM's errors are collected here instead of printed.
pub struct Context {
    pub(crate) api: &'static Api,
    pub(crate) raw: sys::ContextRef,
    diagnostics: Box<RefCell<Vec<String>>>,
}

impl Context {
    /// A fresh context.
    pub fn new(api: &'static Api) -> Context {
        let diagnostics: Box<RefCell<Vec<String>>> = Box::default();
        // SAFETY: the handler's argument is boxed, so it stays where it is for the context's life.
        let raw = unsafe {
            let raw = (api.LLVMContextCreate)();
            (api.LLVMContextSetDiagnosticHandler)(
                raw,
                on_diagnostic,
                (&raw const *diagnostics).cast_mut().cast(),
            );
            raw
        };
        DIAGNOSTIC_API.get_or_init(|| SharedApi(api));
        Context {
            api,
            raw,
            diagnostics,
        }
    }

    /// The number of a kind of metadata.
    pub(super) fn metadata_kind(&self, name: &str) -> u32 {
        // SAFETY: the context is live; LLVM copies the name, of which it is given the length.
        unsafe {
            (self.api.LLVMGetMDKindIDInContext)(self.raw, name.as_ptr().cast(), name.len() as u32)
        }
    }

    /// The errors LLVM reported since the last call, one per line.
    pub fn take_errors(&self) -> String {
        self.diagnostics
            .borrow_mut()
            .drain(..)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The string LLVM allocated, freed after copying.
    pub(super) fn take_message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return String::new();
        }
        // SAFETY: a NUL-terminated string that LLVM handed over.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.LLVMDisposeMessage)(message);
            text
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: modules borrow the context, so none is left.
        unsafe { (self.api.LLVMContextDispose)(self.raw) }
    }
}

struct SharedApi(&'static Api);
static DIAGNOSTIC_API: OnceLock<SharedApi> = OnceLock::new();

extern "C" fn on_diagnostic(info: sys::DiagnosticInfoRef, sink: *mut c_void) {
    let Some(SharedApi(api)) = DIAGNOSTIC_API.get() else {
        return;
    };
    // SAFETY: `sink` is the boxed list of the context that reports; `info` is valid during the call.
    unsafe {
        if (api.LLVMGetDiagInfoSeverity)(info) != 0 {
            return; // warnings, remarks and notes
        }
        let text = (api.LLVMGetDiagInfoDescription)(info);
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        (api.LLVMDisposeMessage)(text);
        (*sink.cast::<RefCell<Vec<String>>>())
            .borrow_mut()
            .push(owned);
    }
}

/// Names in bitcode have no NUL bytes; one that had would be cut there.
pub(crate) fn cstring(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
