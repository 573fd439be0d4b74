//! What is the simulator's own: its reports and settings.

use core::ffi::{CStr, c_void};

use super::entry::*;

/// Copies the last fault's report, without a terminating zero, into `buffer` of `size` bytes; answers its full length.
unsafe extern "C" fn report(buffer: *mut c_char, size: usize) -> usize {
    let text = crate::report::last();
    if !buffer.is_null() {
        // SAFETY: the caller gives the buffer's size.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, text.len().min(size))
        };
    }
    text.len()
}

/// Changes a setting; answers 0, or 1 if there is no such setting or value.
unsafe extern "C" fn configure(setting: *const c_char, value: *const c_char) -> u32 {
    if setting.is_null() || value.is_null() {
        return 1;
    }
    // SAFETY: not null, so C strings by the caller's contract.
    let (setting, value) = unsafe { (CStr::from_ptr(setting), CStr::from_ptr(value)) };
    match (setting.to_str(), value.to_str()) {
        (Ok(setting), Ok(value)) if crate::settings::configure(setting, value) => 0,
        _ => 1,
    }
}

pub(super) fn find(name: &str, variant: Variant) -> Option<*const c_void> {
    match (name, variant) {
        ("warpsmithSimulatorReport", Variant::Plain) => Some(report as *const c_void),
        ("warpsmithSimulatorConfigure", Variant::Plain) => Some(configure as *const c_void),
        _ => None,
    }
}
