//! Modules: loading with JIT options and logs, functions and variables by name.

use core::ffi::CStr;

use super::entry::*;
use super::jit_options::JitOptions;
use crate::context::current;
use crate::module::{self, MODULES, Module};
use crate::settings;
use crate::streams::capture;

driver_calls! {
    Ready fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) {
        load(module, image, JitOptions::none())?;
    }

    Ready fn cuModuleLoadDataEx(
        module: *mut CUmodule, image: *const c_void, numOptions: c_uint, options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
    ) {
        let options = JitOptions::new(numOptions, options, optionValues)?;
        load(module, image, options)?;
    }

    Ready fn cuModuleLoadFatBinary(module: *mut CUmodule, fatCubin: *const c_void) {
        load(module, fatCubin, JitOptions::none())?;
    }

    Ready fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char) {
        current()?;
        if fname.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let name = CStr::from_ptr(fname).to_str().map_err(|_| code::INVALID_VALUE)?;
        let mut bytes = std::fs::read(name).map_err(|_| code::FILE_NOT_FOUND)?;
        bytes.push(0);
        load(module, bytes.as_ptr().cast(), JitOptions::none())?;
    }

    Ready fn cuModuleUnload(hmod: CUmodule) {
        Module::unload(&*current()?, hmod)?;
    }

    Ready fn cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char) {
        let context = current()?;
        let module = MODULES.get(hmod)?;
        if name.is_null() || hfunc.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let name = CStr::from_ptr(name).to_str().map_err(|_| code::NOT_FOUND)?;
        hfunc.write(module.function(&context, name)?.handle as CUfunction);
    }

    Ready fn cuModuleGetFunctionCount(count: *mut c_uint, r#mod: CUmodule) {
        let module = MODULES.get(r#mod)?;
        put(count, module.code.kernels().count() as c_uint)?;
    }

    Ready fn cuModuleEnumerateFunctions(functions: *mut CUfunction, numFunctions: c_uint, r#mod: CUmodule) {
        let context = current()?;
        let module = MODULES.get(r#mod)?;
        if functions.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let mut names: Vec<_> = module.code.kernels().map(|kernel| kernel.name.clone()).collect();
        names.sort();
        for (index, name) in names.iter().take(numFunctions as usize).enumerate() {
            functions.add(index).write(module.function(&context, name)?.handle as CUfunction);
        }
    }

    Ready fn cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char) {
        current()?;
        let module = MODULES.get(hmod)?;
        if name.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let name = CStr::from_ptr(name).to_str().map_err(|_| code::NOT_FOUND)?;
        let variable = module.code.global(name).ok_or(code::NOT_FOUND)?;
        if !dptr.is_null() {
            dptr.write(variable.address);
        }
        if !bytes.is_null() {
            bytes.write(variable.size as usize);
        }
    }

    Ready fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) {
        put(mode, if settings::process().eager_loading {
            CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING
        } else {
            CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING
        })?;
    }
}

/// The log of one load.
#[derive(Default)]
struct LoadLog {
    errors: String,
    remarks: String,
}

/// # Safety
///
/// `image` is a C string, or starts with the magic number of a binary; the options keep their contract.
unsafe fn load(to: *mut CUmodule, image: *const c_void, mut options: JitOptions<'_>) -> Result {
    let context = current()?;
    if to.is_null() || image.is_null() {
        return Err(code::INVALID_VALUE);
    }
    capture::refuse_unsafe_call()?;
    let start = std::time::Instant::now();
    // SAFETY: `image` is not null, so a C string or a binary by the caller's contract.
    let outcome = unsafe { module::ptx_text(image) }.and_then(|ptx| module::load(&context, &ptx));
    let mut log = LoadLog::default();
    let verbose = options
        .index(CUjit_option::CU_JIT_LOG_VERBOSE)
        .is_some_and(|index| !options.values[index].is_null());
    match &outcome {
        Ok(module) if verbose => {
            let mut kernels: Vec<_> = module.code.kernels().collect();
            kernels.sort_by(|a, b| a.name.cmp(&b.name));
            for kernel in kernels {
                log.remarks += &format!(
                    "ptxas info    : Function properties for {}: {} registers (estimated), {} bytes smem, {} bytes lmem\n",
                    kernel.name, kernel.registers, kernel.static_shared, kernel.local_bytes
                );
            }
        }
        Ok(_) => {}
        Err(failure) => log.errors.clone_from(&failure.text),
    }
    for (log, text) in [
        (options.error_log(), &log.errors),
        (options.info_log(), &log.remarks),
    ] {
        if let Some(log) = log {
            // SAFETY: the log buffers are as large as their size options say by the caller's contract, and this call has the options.
            unsafe { log.write(text) };
        }
    }
    if let Some(index) = options.index(CUjit_option::CU_JIT_WALL_TIME) {
        // A float in the slot itself.
        options.values[index] =
            (start.elapsed().as_secs_f32() * 1e3).max(1e-6).to_bits() as usize as *mut c_void;
    }
    match outcome {
        Ok(module) => {
            // SAFETY: not null, so valid for writing by the caller's contract.
            unsafe { to.write(module.handle as CUmodule) };
            Ok(())
        }
        Err(failure) => {
            if options
                .index(CUjit_option::CU_JIT_ERROR_LOG_BUFFER)
                .is_none()
            {
                crate::report::remark(&failure.text);
            }
            Err(failure.code)
        }
    }
}
