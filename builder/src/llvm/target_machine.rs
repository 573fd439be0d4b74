//! The NVPTX code generator for one architecture and PTX version.

use std::ffi::CStr;

use super::context::{Context, cstring};
use super::sys;

pub(super) const TRIPLE: &CStr = c"nvptx64-nvidia-cuda";

/// LLVM's NVPTX backend for one architecture and PTX version.
pub struct TargetMachine<'c> {
    context: &'c Context,
    pub(super) raw: sys::TargetMachineRef,
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
        // SAFETY: `raw` is this machine's own (`new`), and nothing uses it after its drop.
        unsafe { (self.context.api.LLVMDisposeTargetMachine)(self.raw) }
    }
}
