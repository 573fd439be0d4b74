//! What is the simulator's own: its faults, reports and settings (`warpsmith_abi::extension`).

use core::ffi::{CStr, c_void};
use std::sync::Arc;

use super::entry::*;
use crate::context::{Context, current_unchecked};
use crate::report;
use crate::settings;
use warpsmith_abi::extension::{FaultFormat, signature};
use warpsmith_abi::fault::Fault;

/// The fault of a context, the calling thread's current one if the handle is null, as text or JSON; answers its full length.
unsafe extern "C" fn fault(
    context: CUcontext,
    buffer: *mut c_char,
    size: usize,
    format: FaultFormat,
) -> usize {
    let context = if context.is_null() {
        current_unchecked()
    } else {
        Context::of_handle(context).ok()
    };
    let Some(fault) = context.and_then(|context| context.fault()) else {
        return 0;
    };
    let text = match format {
        FaultFormat::TEXT => fault.to_string(),
        FaultFormat::JSON => json(&fault),
        _ => return 0,
    };
    // SAFETY: `buffer` is null or has `size` bytes by the caller's contract.
    unsafe { write_text(&text, buffer, size) }
}

/// The report of the current context's fault, else of the last one in the process; answers its full length.
unsafe extern "C" fn report(buffer: *mut c_char, size: usize) -> usize {
    let own = current_unchecked().and_then(|context| context.fault());
    let text = own
        .or_else(report::last_fault)
        .map(|fault| fault.to_string());
    // SAFETY: `buffer` is null or has `size` bytes by the caller's contract.
    unsafe { write_text(&text.unwrap_or_default(), buffer, size) }
}

/// Changes a setting; answers 0, or 1 if there is no such setting or value.
unsafe extern "C" fn configure(setting: *const c_char, value: *const c_char) -> c_uint {
    if setting.is_null() || value.is_null() {
        return 1;
    }
    // SAFETY: not null, so C strings by the caller's contract.
    let (setting, value) = unsafe { (CStr::from_ptr(setting), CStr::from_ptr(value)) };
    match (setting.to_str(), value.to_str()) {
        (Ok(setting), Ok(value)) if settings::configure(setting, value) => 0,
        _ => 1,
    }
}

const _: signature::warpsmithSimulatorFault = fault;
const _: signature::warpsmithSimulatorReport = report;
const _: signature::warpsmithSimulatorConfigure = configure;

fn json(fault: &Arc<Fault>) -> String {
    // Serialising plain data into a string cannot fail.
    serde_json::to_string(&**fault).unwrap_or_default()
}

/// Copies as much of a text as fits, without a terminating zero; gives its full length.
///
/// # Safety
///
/// `buffer` is null or valid for writing `size` bytes.
unsafe fn write_text(text: &str, buffer: *mut c_char, size: usize) -> usize {
    if !buffer.is_null() {
        let count = text.len().min(size);
        // SAFETY: `buffer` is not null, so valid for `size` bytes by the caller's contract, and `count` is at most that.
        unsafe { core::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, count) };
    }
    text.len()
}

pub(super) fn find(name: &str, variant: Variant) -> Option<*const c_void> {
    match (name, variant) {
        ("warpsmithSimulatorFault", Variant::Plain) => Some(fault as *const c_void),
        ("warpsmithSimulatorReport", Variant::Plain) => Some(report as *const c_void),
        ("warpsmithSimulatorConfigure", Variant::Plain) => Some(configure as *const c_void),
        _ => None,
    }
}
