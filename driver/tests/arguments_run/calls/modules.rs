//! Modules, libraries, and links.

use crate::common::*;
use crate::table::calls;
use crate::world::*;

fn module() -> CUmodule {
    get!(cuModuleLoadData(TEXT.as_ptr().cast()))
}

/// A file with a module's text.
fn path() -> *const c_char {
    let path = std::env::temp_dir().join(format!("warpsmith-arguments-{}.ptx", std::process::id()));
    std::fs::write(&path, TEXT.trim_end_matches('\0')).expect("there is room");
    let path = std::ffi::CString::new(path.to_str().expect("text")).expect("no zero");
    path.into_raw()
}

const PTX: CUjitInputType = CUjitInputType::CU_JIT_INPUT_PTX;

calls! { w:
    cuModuleLoad(out(), path()) 0;
    cuModuleLoadData(out(), TEXT.as_ptr().cast()) 0;
    cuModuleLoadDataEx(out(), TEXT.as_ptr().cast(), 0, null_mut(), null_mut()) 0;
    cuModuleLoadFatBinary(out(), TEXT.as_ptr().cast()) 0;
    cuModuleUnload(module()) 0;
    cuModuleGetFunction(out(), w.own.module, c"idle".as_ptr()) 0;
    cuModuleGetFunctionCount(out(), w.own.module) 0;
    cuModuleEnumerateFunctions(out(), 2, w.own.module) 0;
    cuModuleGetGlobal_v2(out(), out(), w.own.module, c"variable".as_ptr()) 0;
    cuModuleGetLoadingMode(out()) 0;
    cuLibraryLoadData(out(), TEXT.as_ptr().cast(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0) 0;
    cuLibraryLoadFromFile(out(), path(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0) 0;
    cuLibraryUnload(library()) 0;
    cuLibraryGetKernel(out(), w.shared.library, c"idle".as_ptr()) 0;
    cuLibraryGetKernelCount(out(), w.shared.library) 0;
    cuLibraryEnumerateKernels(out(), 2, w.shared.library) 0;
    cuLibraryGetModule(out(), w.shared.library) 0;
    cuLibraryGetGlobal(out(), out(), w.shared.library, c"variable".as_ptr()) 0;
    cuLibraryGetManaged(out(), out(), w.shared.library, c"variable".as_ptr()) 500;
    cuLibraryGetUnifiedFunction(out(), w.shared.library, c"idle".as_ptr()) 500;
    cuLinkCreate_v2(0, null_mut(), null_mut(), out()) 0;
    cuLinkAddData_v2(
        link(), PTX, TEXT.as_ptr().cast_mut().cast(), TEXT.len(), null(), 0, null_mut(), null_mut()
    ) 0;
    cuLinkAddFile_v2(link(), PTX, path(), 0, null_mut(), null_mut()) 0;
    cuLinkComplete(filled_link(), out(), out()) 0;
    cuLinkDestroy(link()) 0;
}
