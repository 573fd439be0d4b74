//! Names and texts of error codes, for codes known and unknown.

use core::ffi::{CStr, c_char};

use crate::raw::{self, CUresult};

/// The driver's name of a code, `CUDA_ERROR_INVALID_VALUE` for example; one that it does not know has the header's name, or is named by
/// its number.
pub fn name(code: CUresult) -> String {
    ask(code, raw::cuGetErrorName)
        .or_else(|| code.name().map(str::to_owned))
        .unwrap_or_else(|| format!("CUDA_ERROR_{}", code.0))
}

/// The driver's one-line description of a code.
pub fn description(code: CUresult) -> String {
    ask(code, raw::cuGetErrorString)
        .unwrap_or_else(|| "an error code that this driver does not describe".to_owned())
}

type Lookup = unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult;

fn ask(code: CUresult, lookup: Lookup) -> Option<String> {
    let mut text = core::ptr::null();
    // SAFETY: `text` outlives the call.
    let result = unsafe { lookup(code, &mut text) };
    if result != CUresult::CUDA_SUCCESS || text.is_null() {
        return None;
    }
    // SAFETY: the driver returns a string that lives as long as it does.
    Some(
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    )
}
