//! The CUDA driver's own library, loaded at run time.

use core::ffi::{c_char, c_int, c_uint, c_void};
use std::ffi::CString;
use std::sync::OnceLock;

use libloading::os::unix::Library;
use warpsmith_abi::{PINNED_SYMBOLS, PinnedSymbol};

use crate::environment;

/// The driver's library; its functions are found by name.
pub(crate) struct CudaLibrary(Library);

/// The library, loaded at most once and never unloaded: its threads and atexit handlers outlive any caller. The error is the dynamic
/// linker's.
pub(crate) fn cuda() -> Result<&'static CudaLibrary, &'static str> {
    static LIBRARY: OnceLock<Result<CudaLibrary, String>> = OnceLock::new();
    let loaded = LIBRARY.get_or_init(|| {
        // SAFETY: a CUDA driver's constructors may run in any process and on any thread: programs load it this way at any time.
        unsafe { Library::new(environment::cuda_library()) }
            .map(CudaLibrary)
            .map_err(|error| match std::error::Error::source(&error) {
                // The dynamic linker's own words are below libloading's.
                Some(source) => source.to_string(),
                None => error.to_string(),
            })
    });
    loaded.as_ref().map_err(String::as_str)
}

impl CudaLibrary {
    /// The function of this symbol name.
    ///
    /// The driver's dynamic symbols carry their version in their name, so the symbol is the binding; what a driver only hands out by
    /// `cuGetProcAddress` is asked for under the version in which the signature of our binding appeared.
    pub(crate) fn entry_point(&self, name: &str) -> Option<*const c_void> {
        let symbol = CString::new(name).ok()?;
        // SAFETY: only the symbol's address is taken, whatever its type.
        if let Ok(found) = unsafe { self.0.get::<*const c_void>(symbol.as_bytes_with_nul()) } {
            return Some(found.into_raw().cast_const());
        }
        let pinned = PINNED_SYMBOLS.iter().find(|pinned| pinned.symbol == name)?;
        self.by_version(pinned)
    }

    fn by_version(&self, pinned: &PinnedSymbol) -> Option<*const c_void> {
        type GetProcAddress = unsafe extern "C" fn(
            *const c_char,
            *mut *mut c_void,
            c_int,
            u64,
            *mut c_uint,
        ) -> c_uint;
        let name = CString::new(pinned.name).ok()?;
        let mut address = core::ptr::null_mut();
        let mut status = 0;
        // SAFETY: the symbol has this type in every driver that has it (since CUDA 12).
        let get = unsafe { self.0.get::<GetProcAddress>(b"cuGetProcAddress_v2\0") }.ok()?;
        // SAFETY: the name ends in a zero byte, and all three pointers are of local variables that outlive the call.
        let result = unsafe { get(name.as_ptr(), &mut address, pinned.version, 0, &mut status) };
        (result == 0 && !address.is_null()).then_some(address.cast_const())
    }

    /// Whether the driver starts and shows at least one device.
    pub(crate) fn has_device(&self) -> bool {
        type Init = unsafe extern "C" fn(c_uint) -> c_uint;
        type DeviceGetCount = unsafe extern "C" fn(*mut c_int) -> c_uint;
        // SAFETY: the symbol has this type in every version of the driver.
        let Ok(init) = (unsafe { self.0.get::<Init>(b"cuInit\0") }) else {
            return false;
        };
        // SAFETY: the symbol has this type in every version of the driver.
        let Ok(count) = (unsafe { self.0.get::<DeviceGetCount>(b"cuDeviceGetCount\0") }) else {
            return false;
        };
        let mut devices = 0;
        // SAFETY: 0 is the only flag that `cuInit` takes; it may be called any number of times.
        let started = unsafe { init(0) } == 0;
        // SAFETY: the pointer is of a local variable that outlives the call.
        started && unsafe { count(&mut devices) } == 0 && devices > 0
    }
}
