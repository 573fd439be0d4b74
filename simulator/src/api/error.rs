//! Names and descriptions of error codes.

use super::entry::*;

driver_calls! {
    Early fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char) {
        describe(error, pStr, |(name, _)| name.as_ptr())?;
    }

    Early fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char) {
        describe(error, pStr, |(_, text)| text.as_ptr())?;
    }
}

type Texts = (&'static core::ffi::CStr, &'static core::ffi::CStr);

/// # Safety
///
/// `to` is null or valid for writing.
unsafe fn describe(
    error: CUresult,
    to: *mut *const c_char,
    choose: fn(Texts) -> *const c_char,
) -> Result {
    let found = code::describe(error);
    // SAFETY: `to` is null or valid for writing by the caller's contract.
    unsafe { put(to, found.map_or(core::ptr::null(), choose)) }?;
    found.map(drop).ok_or(code::INVALID_VALUE)
}
