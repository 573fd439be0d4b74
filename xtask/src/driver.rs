//! What `doctor` asks the installed CUDA driver, without linking to it: is there one, which, and what devices.

use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_uint};

/// What was found.
pub enum Driver {
    /// No `libcuda.so.1`, and the loader's words for it.
    Absent(String),
    /// A driver that does not start, with the call and its code.
    Broken(String),
    /// A working driver: its CUDA version and the devices' names.
    Works {
        version: (i32, i32),
        devices: Vec<String>,
    },
}

/// Loads the driver and asks it. Nothing is created on a device.
pub fn probe() -> Driver {
    // SAFETY: libcuda's initialisers have no precondition; the library stays loaded while its symbols are used.
    let library = match unsafe { Library::new("libcuda.so.1") } {
        Ok(library) => library,
        Err(error) => return Driver::Absent(error.to_string()),
    };
    match ask(&library) {
        Ok(driver) => driver,
        Err(problem) => Driver::Broken(problem),
    }
}

fn ask(library: &Library) -> Result<Driver, String> {
    // SAFETY: this is the signature that CUDA's driver API documents for the symbol.
    let init: Symbol<unsafe extern "C" fn(c_uint) -> c_int> = unsafe { symbol(library, "cuInit")? };
    // SAFETY: this is the signature that CUDA's driver API documents for the symbol.
    let driver_version: Symbol<unsafe extern "C" fn(*mut c_int) -> c_int> =
        unsafe { symbol(library, "cuDriverGetVersion")? };
    // SAFETY: this is the signature that CUDA's driver API documents for the symbol.
    let device_count: Symbol<unsafe extern "C" fn(*mut c_int) -> c_int> =
        unsafe { symbol(library, "cuDeviceGetCount")? };
    // SAFETY: this is the signature that CUDA's driver API documents for the symbol.
    let device_name: Symbol<unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int> =
        unsafe { symbol(library, "cuDeviceGetName")? };

    let (mut version, mut count) = (0, 0);
    // SAFETY: `version` and `count` live across the calls that write them.
    unsafe {
        check("cuInit", init(0))?;
        check("cuDriverGetVersion", driver_version(&mut version))?;
        check("cuDeviceGetCount", device_count(&mut count))?;
    }
    let mut devices = Vec::new();
    for ordinal in 0..count {
        let mut name = [0 as c_char; 256];
        // SAFETY: the buffer has the length that is passed, and the driver ends the name with a zero.
        let text = unsafe {
            check(
                "cuDeviceGetName",
                device_name(name.as_mut_ptr(), 255, ordinal),
            )?;
            CStr::from_ptr(name.as_ptr())
        };
        devices.push(text.to_string_lossy().into_owned());
    }
    Ok(Driver::Works {
        version: (version / 1000, version % 1000 / 10),
        devices,
    })
}

/// # Safety
/// `T` must be the symbol's type.
unsafe fn symbol<'a, T>(library: &'a Library, name: &str) -> Result<Symbol<'a, T>, String> {
    // SAFETY: the caller vouches for the type.
    unsafe { library.get(name) }.map_err(|error| error.to_string())
}

fn check(call: &str, code: c_int) -> Result<(), String> {
    if code == 0 {
        Ok(())
    } else {
        Err(format!("{call} answers error {code}"))
    }
}
