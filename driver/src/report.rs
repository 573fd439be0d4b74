//! What only the simulator can say and do: the report of the last fault, and which checks run.

use core::ffi::{c_char, c_void};
use std::ffi::CString;

use crate::backend;

/// The full text of the last fault on this process's simulator, if it runs on one and a fault has happened.
pub fn simulator_report() -> Option<String> {
    let address = backend::symbol("warpsmithSimulatorReport")?;
    type Report = unsafe extern "C" fn(*mut c_char, usize) -> usize;
    // SAFETY: the simulator's symbol has this type; the second call gets as many bytes as the first asked for.
    unsafe {
        let report = core::mem::transmute::<*const c_void, Report>(address);
        let length = report(core::ptr::null_mut(), 0);
        if length == 0 {
            return None;
        }
        let mut bytes = vec![0u8; length + 1];
        let written = report(bytes.as_mut_ptr().cast(), bytes.len()).min(length);
        bytes.truncate(written);
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Changes a setting of the simulator by its name (`checks`, `seed`, `stderr`, ...: see the simulator's documentation). `false` where
/// the process does not run on a simulator, or it knows no such setting or value.
pub fn configure_simulator(setting: &str, value: &str) -> bool {
    let Some(address) = backend::symbol("warpsmithSimulatorConfigure") else {
        return false;
    };
    let (Ok(setting), Ok(value)) = (CString::new(setting), CString::new(value)) else {
        return false;
    };
    type Configure = unsafe extern "C" fn(*const c_char, *const c_char) -> u32;
    // SAFETY: the simulator's symbol has this type; both strings outlive the call.
    unsafe {
        core::mem::transmute::<*const c_void, Configure>(address)(setting.as_ptr(), value.as_ptr())
            == 0
    }
}
