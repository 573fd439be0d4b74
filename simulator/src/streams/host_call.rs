//! Calls of the program's functions: host functions on a stream, and destructors of user objects.

use core::ffi::c_void;
use std::cell::Cell;

use warpsmith_abi::CUhostFn;

thread_local! {
    /// Whether this thread is running a function of the program's; driver calls are forbidden there.
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is inside of a host function.
pub(crate) fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// Runs a function of the program's with driver calls from it refused.
pub(crate) fn call_host_function(run: impl FnOnce()) {
    let before = IN_HOST_FUNCTION.replace(true);
    run();
    IN_HOST_FUNCTION.set(before);
}

/// A function of the program's, called on a thread of the driver's.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub(crate) function: CUhostFn,
    pub(crate) data: *mut c_void,
}

// SAFETY: the driver never looks through the pointer; handing it to another thread is what the program asks for with a host function.
unsafe impl Send for HostCall {}
// SAFETY: the driver never looks through the pointer, so shared access is access to a number.
unsafe impl Sync for HostCall {}

impl HostCall {
    pub(crate) fn run(&self) {
        if let Some(function) = self.function {
            // SAFETY: the program promised with the call that the function may be called with its data.
            call_host_function(|| unsafe { function(self.data) });
        }
    }
}
