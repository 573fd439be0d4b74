//! Calls of the program's functions: host functions and callbacks on a stream, and destructors of user objects.
//!
//! Each call has a thread of its own, with no frame below the function that anything must be done in: a function may end the thread
//! that it is called on, as an interpreter that shuts down ends every thread that calls into it, and that must neither unwind through
//! the simulator nor take the stream's thread away.

use core::ffi::{c_int, c_void};
use std::cell::Cell;

use warpsmith_abi::{CUhostFn, CUresult, CUstream};

thread_local! {
    /// Whether this thread is running a function of the program's; driver calls are forbidden there.
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is inside of a host function.
pub(crate) fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// A function of the program's, called on a thread of the driver's.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub(crate) function: CUhostFn,
    pub(crate) data: *mut c_void,
}

/// A callback on a stream.
#[derive(Clone, Copy)]
pub(crate) struct StreamCallback {
    pub(crate) function: unsafe extern "C" fn(CUstream, CUresult, *mut c_void),
    pub(crate) stream: CUstream,
    pub(crate) data: *mut c_void,
}

// SAFETY: the driver never looks through the pointer; handing it to another thread is what the program asks for with a host function.
unsafe impl Send for HostCall {}
// SAFETY: the driver never looks through the pointer, so shared access is access to a number.
unsafe impl Sync for HostCall {}
// SAFETY: the driver never looks through the pointer; handing it to another thread is what the program asks for with a callback.
unsafe impl Send for StreamCallback {}

impl HostCall {
    /// Calls the function and waits for its end.
    pub(crate) fn run(&self) {
        if let Some(function) = self.function {
            on_own_thread(Call::Function(function, self.data));
        }
    }
}

impl StreamCallback {
    /// Calls the function, with the state of its stream's context, and waits for its end.
    pub(crate) fn run(self, status: CUresult) {
        on_own_thread(Call::Callback(self, status));
    }
}

/// What is to be called. Nothing in it needs to be dropped.
#[derive(Clone, Copy)]
enum Call {
    Function(unsafe extern "C" fn(*mut c_void), *mut c_void),
    Callback(StreamCallback, CUresult),
}

// As the system's library has them; a function may unwind through its start.
unsafe extern "C" {
    fn pthread_create(
        thread: *mut usize,
        attributes: *const c_void,
        start: unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_join(thread: usize, result: *mut *mut c_void) -> c_int;
}

fn on_own_thread(mut call: Call) {
    let mut thread = 0;
    let argument = (&raw mut call).cast();
    // SAFETY: `call` lives until the thread has been joined below; a thread's handle is an unsigned long in the libraries of Linux.
    let error = unsafe { pthread_create(&mut thread, std::ptr::null(), start, argument) };
    if error == 0 {
        // SAFETY: the thread was just made, and is joined here alone.
        unsafe { pthread_join(thread, std::ptr::null_mut()) };
    } else {
        // No further threads: better here than never.
        // SAFETY: the argument is the call.
        unsafe { start(argument) };
    }
}

/// Performs a call. There is no destructor in this frame, so a thread may end inside of it.
///
/// # Safety
///
/// `call` is a [`Call`], whose function the program promised may be called with its data.
unsafe extern "C-unwind" fn start(call: *mut c_void) -> *mut c_void {
    type Function = unsafe extern "C-unwind" fn(*mut c_void);
    type Callback = unsafe extern "C-unwind" fn(CUstream, CUresult, *mut c_void);
    let before = IN_HOST_FUNCTION.replace(true);
    // SAFETY: the argument is a `Call`, and the program has promised that its function may be called, by the caller's contract; the
    // types differ from the functions' own in that they may unwind, which ending a thread does.
    unsafe {
        match *call.cast::<Call>() {
            Call::Function(function, data) => {
                let function: Function = core::mem::transmute(function);
                function(data);
            }
            Call::Callback(callback, status) => {
                let function: Callback = core::mem::transmute(callback.function);
                function(callback.stream, status, callback.data);
            }
        }
    }
    IN_HOST_FUNCTION.set(before);
    std::ptr::null_mut()
}
