//! Modules: loading with JIT options and logs, functions and variables by name.

use core::ffi::CStr;

use super::entry::*;
use super::jit_options::JitOptions;
use crate::context::current;
use crate::engine::{Global, Module as Code};
use crate::module::{self, LoadFailure, MODULES, Module};
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
        load(module, image_in_file(fname)?.as_ptr().cast(), JitOptions::none())?;
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
        tell_variable(module.code.global(name), dptr, bytes)?;
    }

    Ready fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) {
        put(mode, if settings::process().eager_loading {
            CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING
        } else {
            CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING
        })?;
    }
}

/// Tells where a variable is and how large, as far as that is asked for.
///
/// # Safety
///
/// Both pointers are null or valid for writing.
pub(super) unsafe fn tell_variable(
    variable: Option<&Global>,
    address: *mut CUdeviceptr,
    bytes: *mut usize,
) -> Result {
    let variable = variable.ok_or(code::NOT_FOUND)?;
    // SAFETY: not null, so valid for writing by the caller's contract.
    unsafe {
        if !address.is_null() {
            address.write(variable.address);
        }
        if !bytes.is_null() {
            bytes.write(variable.size as usize);
        }
    }
    Ok(())
}

/// The bytes of a file, with a zero behind them.
///
/// # Safety
///
/// `name` is a C string.
pub(super) unsafe fn image_in_file(name: *const c_char) -> Result<Vec<u8>> {
    // SAFETY: a C string by the caller's contract.
    let name = unsafe { CStr::from_ptr(name) };
    let name = name.to_str().map_err(|_| code::INVALID_VALUE)?;
    let mut bytes = std::fs::read(name).map_err(|_| code::FILE_NOT_FOUND)?;
    bytes.push(0);
    Ok(bytes)
}

/// # Safety
///
/// `image` is a C string, or starts with the magic number of a binary; the options keep their contract.
unsafe fn load(to: *mut CUmodule, image: *const c_void, options: JitOptions<'_>) -> Result {
    let context = current()?;
    if to.is_null() || image.is_null() {
        return Err(code::INVALID_VALUE);
    }
    capture::refuse_unsafe_call()?;
    // SAFETY: `image` is not null, so a C string or a binary by the caller's contract, which the options' is, too.
    let module = unsafe {
        logged(
            image,
            options,
            |ptx| module::load(&context, &ptx),
            |module| &module.code,
        )
    }?;
    // SAFETY: not null, so valid for writing by the caller's contract.
    unsafe { to.write(module.handle as CUmodule) };
    Ok(())
}

/// Loads an image as its options wish, and tells what they ask for.
///
/// # Safety
///
/// `image` is a C string, or starts with the magic number of a binary; the options keep their contract.
pub(super) unsafe fn logged<T>(
    image: *const c_void,
    mut options: JitOptions<'_>,
    load: impl FnOnce(String) -> core::result::Result<T, LoadFailure>,
    code_of: impl Fn(&T) -> &Code,
) -> Result<T> {
    let start = std::time::Instant::now();
    // SAFETY: a C string or a binary by the caller's contract.
    let outcome = unsafe { module::ptx_text(image) }.and_then(load);
    let (mut errors, mut remarks) = (String::new(), String::new());
    let verbose = options
        .index(CUjit_option::CU_JIT_LOG_VERBOSE)
        .is_some_and(|index| !options.values[index].is_null());
    match &outcome {
        Ok(loaded) if verbose => {
            let mut kernels: Vec<_> = code_of(loaded).kernels().collect();
            kernels.sort_by(|a, b| a.name.cmp(&b.name));
            for kernel in kernels {
                remarks += &format!(
                    "ptxas info    : Function properties for {}: {} registers (estimated), {} bytes smem, {} bytes lmem\n",
                    kernel.name, kernel.registers, kernel.static_shared, kernel.local_bytes
                );
            }
        }
        Ok(_) => {}
        Err(failure) => errors.clone_from(&failure.text),
    }
    for (log, text) in [
        (options.error_log(), &errors),
        (options.info_log(), &remarks),
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
    outcome.map_err(|failure| {
        if options
            .index(CUjit_option::CU_JIT_ERROR_LOG_BUFFER)
            .is_none()
        {
            crate::report::remark(&failure.text);
        }
        failure.code
    })
}
