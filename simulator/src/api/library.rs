//! Libraries and their kernels, which belong to no context.

use core::ffi::CStr;

use super::device::index;
use super::entry::*;
use super::function::tell_parameter;
use super::jit_options::JitOptions;
use super::module::{image_in_file, logged, tell_variable};
use crate::context::{current, current_unchecked};
use crate::module::{KERNELS, LIBRARIES, Library};
use crate::settings;

driver_calls! {
    Ready fn cuLibraryLoadData(
        library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void,
        numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void,
        numLibraryOptions: c_uint,
    ) {
        check_options(libraryOptions, libraryOptionValues, numLibraryOptions)?;
        load(library, code, JitOptions::new(numJitOptions, jitOptions, jitOptionsValues)?)?;
    }

    Ready fn cuLibraryLoadFromFile(
        library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void,
        numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void,
        numLibraryOptions: c_uint,
    ) {
        if fileName.is_null() {
            return Err(code::INVALID_VALUE);
        }
        check_options(libraryOptions, libraryOptionValues, numLibraryOptions)?;
        let image = image_in_file(fileName)?;
        load(library, image.as_ptr().cast(), JitOptions::new(numJitOptions, jitOptions, jitOptionsValues)?)?;
    }

    Ready fn cuLibraryUnload(library: CUlibrary) {
        LIBRARIES.get(library)?.unload()?;
    }

    Ready fn cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char) {
        let library = LIBRARIES.get(library)?;
        if pKernel.is_null() {
            return Err(code::INVALID_VALUE);
        }
        pKernel.write(library.kernel(text(name)?)?.handle as CUkernel);
    }

    Ready fn cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) {
        put(count, LIBRARIES.get(lib)?.code.kernels().count() as c_uint)?;
    }

    Ready fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary) {
        let library = LIBRARIES.get(lib)?;
        if kernels.is_null() {
            return Err(code::INVALID_VALUE);
        }
        for (place, name) in library.kernel_names().iter().take(numKernels as usize).enumerate() {
            kernels.add(place).write(library.kernel(name)?.handle as CUkernel);
        }
    }

    Ready fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) {
        let (context, library) = (current()?, LIBRARIES.get(library)?);
        if pMod.is_null() {
            return Err(code::INVALID_VALUE);
        }
        pMod.write(library.module(&context)?.handle as CUmodule);
    }

    Ready fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        let (context, library) = (current()?, LIBRARIES.get(library)?);
        let name = text(name)?;
        // Without a load where there is no such variable.
        library.code.global(name).ok_or(code::NOT_FOUND)?;
        tell_variable(library.module(&context)?.code.global(name), dptr, bytes)?;
    }

    Ready fn cuLibraryGetManaged(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        let (context, library) = (current()?, LIBRARIES.get(library)?);
        let name = text(name)?;
        library.code.global(name).filter(|variable| variable.managed).ok_or(code::NOT_FOUND)?;
        tell_variable(library.module(&context)?.code.global(name), dptr, bytes)?;
    }

    Ready fn cuLibraryGetUnifiedFunction(fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char) {
        LIBRARIES.get(library)?;
        text(symbol)?;
        if fptr.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // PTX has none: they are functions of the host that the device can call, which the devices here cannot.
        return Err(code::NOT_FOUND);
    }

    Ready fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) {
        let (context, kernel) = (current()?, KERNELS.get(kernel)?);
        if pFunc.is_null() {
            return Err(code::INVALID_VALUE);
        }
        pFunc.write(kernel.function(&context)?.handle as CUfunction);
    }

    Ready fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel) {
        put(pLib, KERNELS.get(kernel)?.library as CUlibrary)?;
    }

    Ready fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) {
        // The registry keeps the kernel, and with it the text, until the library is unloaded.
        put(name, KERNELS.get(not_null(hfunc)?)?.c_name.as_ptr())?;
    }

    Ready fn cuKernelGetParamInfo(kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        current()?;
        let kernel = KERNELS.get(not_null(kernel)?)?;
        tell_parameter(&kernel.code, paramIndex, paramOffset, paramSize)?;
    }

    Ready fn cuKernelGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice) {
        let kernel = KERNELS.get(kernel)?;
        put(pi, kernel.attribute(attrib, index(dev)?)?)?;
    }

    Ready fn cuKernelSetAttribute(attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice) {
        KERNELS.get(kernel)?.set_attribute(attrib, val, index(dev)?)?;
    }

    Ready fn cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice) {
        let kernel = KERNELS.get(kernel)?;
        if config.0 > 3 {
            return Err(code::INVALID_VALUE);
        }
        kernel.set_cache_config(config.0, index(dev)?);
    }
}

/// # Safety
///
/// `name` is null or a C string that lives as long as the result is used.
unsafe fn text<'a>(name: *const c_char) -> Result<&'a str> {
    if name.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, so a C string by the caller's contract.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().map_err(|_| code::NOT_FOUND)
}

/// Refuses options of a library that do not exist; those that do say what a compiler's own start-up code wants, and that the image stays
/// where it is.
///
/// # Safety
///
/// The array is null or has `count` entries.
unsafe fn check_options(
    options: *mut CUlibraryOption,
    values: *mut *mut c_void,
    count: c_uint,
) -> Result {
    if count == 0 {
        return Ok(());
    }
    if options.is_null() || values.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, so of `count` entries by the caller's contract.
    let options = unsafe { core::slice::from_raw_parts(options, count as usize) };
    match options
        .iter()
        .all(|option| option.0 < CUlibraryOption::CU_LIBRARY_NUM_OPTIONS.0)
    {
        true => Ok(()),
        false => Err(code::INVALID_VALUE),
    }
}

/// # Safety
///
/// `image` is a C string, or starts with the magic number of a binary; the options keep their contract.
unsafe fn load(to: *mut CUlibrary, image: *const c_void, options: JitOptions<'_>) -> Result {
    if to.is_null() || image.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // For whichever device: all are alike in what they execute.
    let compile = |ptx| Library::load(ptx, 0);
    // SAFETY: `image` is not null, so a C string or a binary by the caller's contract, which the options' is, too.
    let library = unsafe { logged(image, options, compile, |library| &library.code) }?;
    if settings::process().eager_data_loading
        && let Some(context) = current_unchecked()
        && let Err(code) = library.module(&context)
    {
        library.unload()?;
        return Err(code);
    }
    // SAFETY: not null, so valid for writing by the caller's contract.
    unsafe { to.write(library.handle as CUlibrary) };
    Ok(())
}
