//! Modules: their functions and globals, linking, passes, and the text that comes out.

use std::ffi::CStr;

use super::context::{Context, cstring};
use super::sys;
use super::target_machine::{TRIPLE, TargetMachine};
use super::value::Value;

/// A module of LLVM IR.
pub struct Module<'c> {
    pub(crate) context: &'c Context,
    pub(crate) raw: sys::ModuleRef,
}

impl<'c> Module<'c> {
    /// An empty module.
    pub fn new(context: &'c Context, name: &str) -> Module<'c> {
        let name = cstring(name);
        // SAFETY: `name` is NUL-terminated and copied; `context.raw` lives as long as `context`.
        let raw =
            unsafe { (context.api.LLVMModuleCreateWithNameInContext)(name.as_ptr(), context.raw) };
        Module { context, raw }
    }

    /// Parses bitcode into a module.
    pub fn parse_bitcode(
        context: &'c Context,
        bytes: &[u8],
        name: &str,
    ) -> Result<Module<'c>, String> {
        let name = cstring(name);
        let mut raw = std::ptr::null_mut();
        // SAFETY: LLVM copies the buffer, so `bytes` need not outlive the call, and it takes ownership of nothing but
        // the copy, which is disposed of here.
        let failed = unsafe {
            let buffer = (context.api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                bytes.as_ptr().cast(),
                bytes.len(),
                name.as_ptr(),
            );
            let failed = (context.api.LLVMParseBitcodeInContext2)(context.raw, buffer, &mut raw);
            (context.api.LLVMDisposeMemoryBuffer)(buffer);
            failed
        };
        if failed != 0 {
            return Err(format!(
                "{}: {}",
                name.to_string_lossy(),
                context.take_errors()
            ));
        }
        Ok(Module { context, raw })
    }

    /// Parses a module's text.
    pub fn parse_text(context: &'c Context, text: &str, name: &str) -> Result<Module<'c>, String> {
        let name = cstring(name);
        let mut raw = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: LLVM copies the text, so it need not outlive the call, and takes ownership of the copy; on failure `message` is ours.
        let failed = unsafe {
            let buffer = (context.api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                text.as_ptr().cast(),
                text.len(),
                name.as_ptr(),
            );
            (context.api.LLVMParseIRInContext)(context.raw, buffer, &mut raw, &mut message)
        };
        if failed != 0 {
            return Err(context.take_message(message));
        }
        Ok(Module { context, raw })
    }

    /// The module as bitcode.
    pub fn to_bitcode(&self) -> Vec<u8> {
        let api = self.context.api;
        // SAFETY: `raw` is a module that `self` owns; the buffer is ours, and disposed of here.
        unsafe { take_buffer(api, (api.LLVMWriteBitcodeToMemoryBuffer)(self.raw)) }
    }

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
        // SAFETY: `self.raw` is this module's until its drop; the list is not changed while it is walked.
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
        while let Some(value) = Value::from_raw(self.context, at) {
            all.push(value);
            // SAFETY: `at` is a member of the list, which nothing changes meanwhile: `self` is borrowed.
            at = unsafe { next(at) };
        }
        all
    }

    /// The function called `name`, declared or defined.
    pub fn function(&self, name: &str) -> Option<Value<'c>> {
        let name = cstring(name);
        // SAFETY: `raw` is a module that `self` owns, and `name` ends in zero.
        let raw = unsafe { (self.context.api.LLVMGetNamedFunction)(self.raw, name.as_ptr()) };
        Value::from_raw(self.context, raw)
    }

    /// The global variable called `name`, declared or defined.
    pub fn global(&self, name: &str) -> Option<Value<'c>> {
        let name = cstring(name);
        // SAFETY: `raw` is a module that `self` owns, and `name` ends in zero.
        let raw = unsafe { (self.context.api.LLVMGetNamedGlobal)(self.raw, name.as_ptr()) };
        Value::from_raw(self.context, raw)
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

    /// The function with this name, declared if it is not there.
    pub fn declaration(
        &self,
        name: &str,
        result: sys::TypeRef,
        parameters: &[sys::TypeRef],
    ) -> Value<'c> {
        if let Some(function) = self.function(name) {
            return function;
        }
        let api = self.context.api;
        let (name, mut parameters) = (cstring(name), parameters.to_vec());
        // SAFETY: the types belong to this context; the name ends in zero, and the list has as many types as is said.
        let raw = unsafe {
            let count = parameters.len() as u32;
            let ty = (api.LLVMFunctionType)(result, parameters.as_mut_ptr(), count, 0);
            (api.LLVMAddFunction)(self.raw, name.as_ptr(), ty)
        };
        Value {
            raw,
            context: self.context,
        }
    }

    /// The type of what gives nothing.
    pub fn void_type(&self) -> sys::TypeRef {
        // SAFETY: the context lives as long as the module.
        unsafe { (self.context.api.LLVMVoidTypeInContext)(self.context.raw) }
    }

    /// The type of `size` bytes.
    pub fn bytes_type(&self, size: u64) -> sys::TypeRef {
        let api = self.context.api;
        // SAFETY: the context lives as long as `'c`, and types as long as it.
        unsafe { (api.LLVMArrayType2)((api.LLVMInt8TypeInContext)(self.context.raw), size) }
    }

    /// The size in bytes of a value of type `ty`.
    pub fn size_of(&self, ty: sys::TypeRef) -> u64 {
        let api = self.context.api;
        // SAFETY: the type belongs to this context; the layout is the module's own.
        unsafe { (api.LLVMABISizeOfType)((api.LLVMGetModuleDataLayout)(self.raw), ty) }
    }

    /// How many bytes a store of a value of type `ty` overwrites: none behind it, as `size_of` counts them. `None` of structures and arrays, whose padding it
    /// may leave.
    pub fn stored_size_of(&self, ty: sys::TypeRef) -> Option<u64> {
        const STRUCTURE: i32 = 10;
        const ARRAY: i32 = 11;
        let api = self.context.api;
        // SAFETY: the type belongs to this context; the layout is the module's own.
        unsafe {
            let is_aggregate = matches!((api.LLVMGetTypeKind)(ty), STRUCTURE | ARRAY);
            let layout = (api.LLVMGetModuleDataLayout)(self.raw);
            (!is_aggregate).then(|| (api.LLVMStoreSizeOfType)(layout, ty))
        }
    }

    /// Sets the target triple and the data layout of `machine`.
    pub fn set_target(&self, machine: &TargetMachine<'c>) {
        let api = self.context.api;
        // SAFETY: `self` and `machine` own their handles; LLVM copies triple and layout, of which the layout is disposed of here.
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
        // SAFETY: `self` and `other` own their modules; LLVM copies triple and layout.
        unsafe {
            (api.LLVMSetTarget)(self.raw, TRIPLE.as_ptr());
            (api.LLVMSetModuleDataLayout)(self.raw, (api.LLVMGetModuleDataLayout)(other.raw));
        }
    }

    /// Takes out all debug information.
    pub fn strip_debug_info(&self) {
        // SAFETY: `raw` is a module that `self` owns.
        unsafe { (self.context.api.LLVMStripModuleDebugInfo)(self.raw) };
    }

    /// Runs a pass pipeline, given in LLVM's textual form.
    pub fn run_passes(
        &self,
        pipeline: &str,
        machine: Option<&TargetMachine<'c>>,
    ) -> Result<(), String> {
        let text = cstring(pipeline);
        let machine = machine.map_or(std::ptr::null_mut(), |m| m.raw);
        self.run(|api, options| {
            // SAFETY: `self` and `machine` own their handles, `text` ends in zero, and the options live during the call (`run`).
            unsafe { (api.LLVMRunPasses)(self.raw, text.as_ptr(), machine, options) }
        })
    }

    /// Runs passes of functions, without `function(..)` around them, on a defined function of the module.
    pub fn run_passes_on(&self, function: Value<'c>, pipeline: &str) -> Result<(), String> {
        let (text, machine) = (cstring(pipeline), std::ptr::null_mut());
        self.run(|api, options| {
            // SAFETY: `function` is live (the invariant of `Value`), `text` ends in zero, a machine may be left out, and the options live during the
            // call (`run`).
            unsafe { (api.LLVMRunPassesOnFunction)(function.raw, text.as_ptr(), machine, options) }
        })
    }

    /// Runs passes with options that live as long as the call.
    fn run(
        &self,
        passes: impl FnOnce(&sys::Api, sys::PassOptionsRef) -> sys::ErrorRef,
    ) -> Result<(), String> {
        let api = self.context.api;
        // SAFETY: the options live from their creation to their disposal in this block, and `passes` does not keep them.
        let error = unsafe {
            let options = (api.LLVMCreatePassBuilderOptions)();
            let error = passes(api, options);
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
            let text = take_buffer(api, buffer);
            match self.context.take_errors() {
                errors if errors.is_empty() => Ok(String::from_utf8_lossy(&text).into_owned()),
                errors => Err(errors),
            }
        }
    }

    /// The module as LLVM's textual IR (for `WARPSMITH_DUMP_IR` and for people).
    pub fn to_ir(&self) -> String {
        // SAFETY: `raw` is a module that `self` owns; the string is the caller's, and `take_message` disposes of it.
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

/// A copy of what a buffer of LLVM's holds, which is disposed of.
///
/// # Safety
///
/// `buffer` is a living one, and the caller's own.
unsafe fn take_buffer(api: &sys::Api, buffer: sys::MemoryBufferRef) -> Vec<u8> {
    // SAFETY: the buffer is living (this function's contract), and has as many bytes as LLVM says.
    unsafe {
        let bytes = std::slice::from_raw_parts(
            (api.LLVMGetBufferStart)(buffer).cast::<u8>(),
            (api.LLVMGetBufferSize)(buffer),
        );
        let copy = bytes.to_vec();
        (api.LLVMDisposeMemoryBuffer)(buffer);
        copy
    }
}
