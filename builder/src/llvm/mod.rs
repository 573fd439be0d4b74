//! A small safe-to-use layer over the LLVM C API of [`sys`]: contexts, modules, values.
//!
//! It knows nothing of PTX or Rust. Values borrow their [`Context`], so they cannot outlive it; a value
//! that was erased must not be used again, which the linker's passes hold by collecting before changing.

mod build;
mod function;
mod instruction;
mod location;
pub mod sys;
mod value;

pub use location::Location;
pub use value::{Attribute, Ordering, RmwOperation, Value, ValueKind, fast_math, opcode};

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use sys::Api;

/// LLVM's library, loaded once for the life of the process.
static LOADED: OnceLock<(PathBuf, Api)> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// Loads LLVM from `library` (at the first call) and makes the NVPTX target ready.
pub fn load(library: &Path) -> Result<&'static Api, String> {
    let _guard = LOADING.lock().unwrap_or_else(|e| e.into_inner());
    if let Some((path, api)) = LOADED.get() {
        if path != library {
            return Err(format!(
                "this process already uses the LLVM library of another toolchain ({})",
                path.display()
            ));
        }
        return Ok(api);
    }
    let api = Api::load(library).map_err(|e| e.to_string())?;
    let arguments: Vec<_> = [c"warpsmith"]
        .iter()
        .chain(OPTIONS)
        .map(|a| a.as_ptr())
        .collect();
    // SAFETY: NUL-terminated strings that live forever.
    unsafe {
        (api.LLVMParseCommandLineOptions)(
            arguments.len() as i32,
            arguments.as_ptr(),
            std::ptr::null(),
        )
    };
    // SAFETY: plain registration functions, called once, before any other use of LLVM.
    unsafe {
        (api.LLVMInstallFatalErrorHandler)(fatal_error);
        (api.LLVMInitializeNVPTXTargetInfo)();
        (api.LLVMInitializeNVPTXTarget)();
        (api.LLVMInitializeNVPTXTargetMC)();
        (api.LLVMInitializeNVPTXAsmPrinter)();
    }
    Ok(&LOADED.get_or_init(|| (library.to_path_buf(), api)).1)
}

/// Options of LLVM that no API sets. They hold for the whole process, in which nobody else uses this LLVM.
const OPTIONS: &[&CStr] = &[
    // Loop strength reduction gives each array of a loop a 64-bit pointer of its own to step: registers that
    // are dear here, to save an address computation that is one instruction. nvcc does not do it either.
    c"-disable-lsr",
    // Moving arithmetic into the branch that uses its result (LLVM's machine sinking) keeps all operands
    // alive instead of one result: on a 7 x 7 convolution, 784 multiply-adds end up behind all their loads,
    // and 40 registers become 106. ptxas sinks by itself what is worth it.
    c"-disable-machine-sink",
];

/// LLVM calls this where it cannot go on (an instruction that the target lacks, say); it never returns.
extern "C" fn fatal_error(reason: *const c_char) {
    // SAFETY: LLVM passes a NUL-terminated message.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    eprintln!("error: LLVM cannot translate this kernel to PTX: {reason}");
    std::process::exit(101);
}

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

    /// The errors LLVM reported since the last call, one per line.
    pub fn take_errors(&self) -> String {
        self.diagnostics
            .borrow_mut()
            .drain(..)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Parses bitcode into a module.
    pub fn parse_bitcode(&self, bytes: &[u8], name: &str) -> Result<Module<'_>, String> {
        let name = cstring(name);
        let mut raw = std::ptr::null_mut();
        // SAFETY: the buffer is copied; parsing takes ownership of the module only on success.
        let failed = unsafe {
            let buffer = (self.api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                bytes.as_ptr().cast(),
                bytes.len(),
                name.as_ptr(),
            );
            let failed = (self.api.LLVMParseBitcodeInContext2)(self.raw, buffer, &mut raw);
            (self.api.LLVMDisposeMemoryBuffer)(buffer);
            failed
        };
        if failed != 0 {
            return Err(format!(
                "{}: {}",
                name.to_string_lossy(),
                self.take_errors()
            ));
        }
        Ok(Module { context: self, raw })
    }

    /// An empty module.
    pub fn create_module(&self, name: &str) -> Module<'_> {
        let name = cstring(name);
        // SAFETY: the name is copied.
        Module {
            context: self,
            // SAFETY: the name is copied.
            raw: unsafe { (self.api.LLVMModuleCreateWithNameInContext)(name.as_ptr(), self.raw) },
        }
    }

    pub(crate) fn value(&self, raw: sys::ValueRef) -> Option<Value<'_>> {
        (!raw.is_null()).then_some(Value { raw, context: self })
    }

    /// The string LLVM allocated, freed after copying.
    fn take_message(&self, message: *mut c_char) -> String {
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

/// A module of LLVM IR.
pub struct Module<'c> {
    pub(crate) context: &'c Context,
    pub(crate) raw: sys::ModuleRef,
}

impl<'c> Module<'c> {
    /// Moves everything in `other` into this module.
    pub fn link(&self, other: Module<'c>) -> Result<(), String> {
        let raw = other.raw;
        std::mem::forget(other); // linking consumes it, even when it fails
        // SAFETY: both modules belong to one context.
        match unsafe { (self.context.api.LLVMLinkModules2)(self.raw, raw) } {
            0 => Ok(()),
            _ => Err(self.context.take_errors()),
        }
    }

    /// All functions, declarations included.
    pub fn functions(&self) -> Vec<Value<'c>> {
        let api = self.context.api;
        // SAFETY: walks the module's list; nothing is changed meanwhile.
        self.chain(
            unsafe { (api.LLVMGetFirstFunction)(self.raw) },
            api.LLVMGetNextFunction,
        )
    }

    /// All global variables, declarations included.
    pub fn globals(&self) -> Vec<Value<'c>> {
        let api = self.context.api;
        // SAFETY: as above.
        self.chain(
            unsafe { (api.LLVMGetFirstGlobal)(self.raw) },
            api.LLVMGetNextGlobal,
        )
    }

    fn chain(
        &self,
        first: sys::ValueRef,
        next: unsafe extern "C" fn(sys::ValueRef) -> sys::ValueRef,
    ) -> Vec<Value<'c>> {
        let mut all = Vec::new();
        let mut at = first;
        while let Some(value) = self.context.value(at) {
            all.push(value);
            // SAFETY: `at` is a live member of the list.
            at = unsafe { next(at) };
        }
        all
    }

    /// The function called `name`, declared or defined.
    pub fn function(&self, name: &str) -> Option<Value<'c>> {
        let name = cstring(name);
        // SAFETY: a lookup by name.
        self.context
            .value(unsafe { (self.context.api.LLVMGetNamedFunction)(self.raw, name.as_ptr()) })
    }

    /// The global variable called `name`, declared or defined.
    pub fn global(&self, name: &str) -> Option<Value<'c>> {
        let name = cstring(name);
        // SAFETY: a lookup by name.
        self.context
            .value(unsafe { (self.context.api.LLVMGetNamedGlobal)(self.raw, name.as_ptr()) })
    }

    /// A new global variable of `size` bytes in `address_space`, without initialiser.
    pub fn add_global(&self, name: &str, ty: sys::TypeRef, address_space: u32) -> Value<'c> {
        let name = cstring(name);
        // SAFETY: the type belongs to this context; the name is copied (and made unique).
        let raw = unsafe {
            (self.context.api.LLVMAddGlobalInAddressSpace)(
                self.raw,
                ty,
                name.as_ptr(),
                address_space,
            )
        };
        Value {
            raw,
            context: self.context,
        }
    }

    /// The type of `size` bytes.
    pub fn bytes_type(&self, size: u64) -> sys::TypeRef {
        let api = self.context.api;
        // SAFETY: types live as long as the context.
        unsafe { (api.LLVMArrayType2)((api.LLVMInt8TypeInContext)(self.context.raw), size) }
    }

    /// The size in bytes of a value of type `ty`.
    pub fn size_of(&self, ty: sys::TypeRef) -> u64 {
        let api = self.context.api;
        // SAFETY: the type belongs to this context; the layout is the module's own.
        unsafe { (api.LLVMABISizeOfType)((api.LLVMGetModuleDataLayout)(self.raw), ty) }
    }

    /// Sets the target triple and the data layout of `machine`.
    pub fn set_target(&self, machine: &TargetMachine<'c>) {
        let api = self.context.api;
        // SAFETY: all handles live; the layout is copied.
        unsafe {
            (api.LLVMSetTarget)(self.raw, TRIPLE.as_ptr());
            let layout = (api.LLVMCreateTargetDataLayout)(machine.raw);
            (api.LLVMSetModuleDataLayout)(self.raw, layout);
            (api.LLVMDisposeTargetData)(layout);
        }
    }

    /// Takes over the target triple and the data layout of another module, so that linking the two is silent.
    pub fn set_data_layout_of(&self, other: &Module<'c>) {
        let api = self.context.api;
        // SAFETY: both modules live; the layout is copied.
        unsafe {
            (api.LLVMSetTarget)(self.raw, TRIPLE.as_ptr());
            (api.LLVMSetModuleDataLayout)(self.raw, (api.LLVMGetModuleDataLayout)(other.raw));
        }
    }

    /// Takes out all debug information.
    pub fn strip_debug_info(&self) {
        // SAFETY: a living module.
        unsafe { (self.context.api.LLVMStripModuleDebugInfo)(self.raw) };
    }

    /// Runs a pass pipeline, given in LLVM's textual form.
    pub fn run_passes(
        &self,
        pipeline: &str,
        machine: Option<&TargetMachine<'c>>,
    ) -> Result<(), String> {
        let api = self.context.api;
        let text = cstring(pipeline);
        let machine = machine.map_or(std::ptr::null_mut(), |m| m.raw);
        // SAFETY: all handles live.
        let error = unsafe {
            let options = (api.LLVMCreatePassBuilderOptions)();
            let error = (api.LLVMRunPasses)(self.raw, text.as_ptr(), machine, options);
            (api.LLVMDisposePassBuilderOptions)(options);
            error
        };
        if !error.is_null() {
            // SAFETY: a failed run hands over an error object, consumed here.
            let text = unsafe {
                let message = (api.LLVMGetErrorMessage)(error);
                let text = CStr::from_ptr(message).to_string_lossy().into_owned();
                (api.LLVMDisposeErrorMessage)(message);
                text
            };
            return Err(text);
        }
        match self.context.take_errors() {
            errors if errors.is_empty() => Ok(()),
            errors => Err(errors),
        }
    }

    /// Checks the module's consistency.
    pub fn verify(&self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        // SAFETY: action 2 returns the message instead of printing or aborting.
        let broken = unsafe { (self.context.api.LLVMVerifyModule)(self.raw, 2, &mut message) };
        let text = self.context.take_message(message);
        if broken != 0 { Err(text) } else { Ok(()) }
    }

    /// The module as assembly text (PTX).
    pub fn emit(&self, machine: &TargetMachine<'c>) -> Result<String, String> {
        const ASSEMBLY_FILE: i32 = 0;
        let api = self.context.api;
        let mut message = std::ptr::null_mut();
        let mut buffer = std::ptr::null_mut();
        // SAFETY: on success `buffer` is ours to read and free; on failure `message` is.
        unsafe {
            if (api.LLVMTargetMachineEmitToMemoryBuffer)(
                machine.raw,
                self.raw,
                ASSEMBLY_FILE,
                &mut message,
                &mut buffer,
            ) != 0
            {
                return Err(self.context.take_message(message));
            }
            let bytes = std::slice::from_raw_parts(
                (api.LLVMGetBufferStart)(buffer).cast(),
                (api.LLVMGetBufferSize)(buffer),
            );
            let text = String::from_utf8_lossy(bytes).into_owned();
            (api.LLVMDisposeMemoryBuffer)(buffer);
            match self.context.take_errors() {
                errors if errors.is_empty() => Ok(text),
                errors => Err(errors),
            }
        }
    }

    /// The module as LLVM's textual IR (for `keep_ir` and for people).
    pub fn to_ir(&self) -> String {
        // SAFETY: LLVM hands over a fresh string.
        self.context
            .take_message(unsafe { (self.context.api.LLVMPrintModuleToString)(self.raw) })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: owned; values of it borrow the context only, and are not used after the module is gone.
        unsafe { (self.context.api.LLVMDisposeModule)(self.raw) }
    }
}

const TRIPLE: &CStr = c"nvptx64-nvidia-cuda";

/// LLVM's NVPTX backend for one architecture and PTX version.
pub struct TargetMachine<'c> {
    context: &'c Context,
    raw: sys::TargetMachineRef,
}

impl<'c> TargetMachine<'c> {
    /// `cpu` as in `sm_90a`, `features` as in `+ptx86`.
    pub fn new(
        context: &'c Context,
        cpu: &str,
        features: &str,
    ) -> Result<TargetMachine<'c>, String> {
        const AGGRESSIVE: i32 = 3;
        let (cpu, features) = (cstring(cpu), cstring(features));
        let mut target = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        let api = context.api;
        // SAFETY: strings live through the calls; relocation and code model 0 are the defaults.
        let raw = unsafe {
            if (api.LLVMGetTargetFromTriple)(TRIPLE.as_ptr(), &mut target, &mut message) != 0 {
                return Err(context.take_message(message));
            }
            (api.LLVMCreateTargetMachine)(
                target,
                TRIPLE.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                AGGRESSIVE,
                0,
                0,
            )
        };
        Ok(TargetMachine { context, raw })
    }
}

impl Drop for TargetMachine<'_> {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { (self.context.api.LLVMDisposeTargetMachine)(self.raw) }
    }
}

/// Names in bitcode have no NUL bytes; one that had would be cut there.
pub(crate) fn cstring(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
