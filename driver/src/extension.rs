//! What only the simulator can say and do: faults, and its settings. It does not matter whether it is the program's own simulator or
//! the drop-in library.

use core::ffi::{c_char, c_void};
use std::ffi::CString;

use warpsmith_abi::CUcontext;
use warpsmith_abi::extension::{FaultFormat, signature};
use warpsmith_abi::fault::{Fault, FaultKind};

use crate::select;

/// The simulator's function of this name, if a simulator answers in this process.
macro_rules! extension {
    ($name:ident) => {
        select::symbol(stringify!($name)).map(|address| {
            // SAFETY: no CUDA driver has a symbol of this name but the simulator, where it has this signature.
            unsafe { core::mem::transmute::<*const c_void, signature::$name>(address) }
        })
    };
}

/// The fault that made `context` unusable, if this process runs on a simulator and a fault has happened there. A null `context` is
/// the calling thread's current one; one that is destroyed has no fault.
#[allow(clippy::not_unsafe_ptr_arg_deref)] // The simulator's handles are numbers, which it looks up and never follows.
pub fn fault(context: CUcontext) -> Option<Fault> {
    let ask = extension!(warpsmithSimulatorFault)?;
    let in_format = |format| {
        // SAFETY: `text` gives a buffer and its size, and the simulator refuses a context that it does not know.
        text(|buffer, size| unsafe { ask(context, buffer, size, format) })
    };
    let json = in_format(FaultFormat::JSON)?;
    // A drop-in library of another version may describe faults otherwise; its report is still text.
    serde_json::from_str(&json).ok().or_else(|| {
        let report = in_format(FaultFormat::TEXT)?;
        Some(Fault::outside_kernels(FaultKind::Other, report))
    })
}

/// The full text of the last fault on this process's simulator, if it runs on one and a fault has happened.
pub fn simulator_report() -> Option<String> {
    let ask = extension!(warpsmithSimulatorReport)?;
    // SAFETY: `text` gives a buffer and its size.
    text(|buffer, size| unsafe { ask(buffer, size) })
}

/// Changes a setting of the simulator by its name (`checks`, `seed`, `stderr`, ...: see the simulator's documentation). `false` where
/// the process does not run on a simulator, or it knows no such setting or value.
pub fn configure_simulator(setting: &str, value: &str) -> bool {
    let Some(configure) = extension!(warpsmithSimulatorConfigure) else {
        return false;
    };
    let (Ok(setting), Ok(value)) = (CString::new(setting), CString::new(value)) else {
        return false;
    };
    // SAFETY: both strings end in a zero byte and outlive the call.
    unsafe { configure(setting.as_ptr(), value.as_ptr()) == 0 }
}

/// The text that `write` puts into a buffer of a size; it answers the whole text's length, and 0 where there is none.
fn text(write: impl Fn(*mut c_char, usize) -> usize) -> Option<String> {
    let length = write(core::ptr::null_mut(), 0);
    if length == 0 {
        return None;
    }
    let mut bytes = vec![0u8; length];
    let written = write(bytes.as_mut_ptr().cast(), bytes.len()).min(length);
    bytes.truncate(written);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
