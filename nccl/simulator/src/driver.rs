//! Calls of the CUDA driver, by the seam: whichever driver the program runs on.

use std::ffi::c_void;

use warpsmith_driver::raw;
use warpsmith_nccl_abi::ncclResult_t;

use crate::failure::{Failure, Result};

/// `call!(cuFoo(a, b))` calls the driver and gives `Result<()>`. For use inside `unsafe { }`.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        $crate::driver::check(stringify!($function), ::warpsmith_driver::raw::$function($($argument),*))
    };
}
pub(crate) use call;

pub(crate) fn check(call: &str, code: raw::CUresult) -> Result<()> {
    match code {
        raw::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(Failure {
            code: ncclResult_t::ncclUnhandledCudaError,
            reason: format!("{call}: {}", warpsmith_driver::error::name(code)),
        }),
    }
}

/// A context of the driver, by its handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Context(usize);

impl Context {
    /// The calling thread's.
    pub(crate) fn current() -> Result<Context> {
        let mut context = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `context`, which outlives the call.
        unsafe { call!(cuCtxGetCurrent(&mut context)) }?;
        match context.is_null() {
            true => Err(Failure::usage(
                "no CUDA context is current on this thread: make the device's current before the communicator",
            )),
            false => Ok(Context(context.addr())),
        }
    }

    /// Does something with this context as the current one.
    pub(crate) fn with<R>(self, body: impl FnOnce() -> Result<R>) -> Result<R> {
        // SAFETY: the handle is one that the driver gave; it looks up one that is gone and refuses it.
        unsafe { call!(cuCtxPushCurrent_v2(self.0 as raw::CUcontext)) }?;
        let result = body();
        let mut popped = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `popped`, which outlives the call.
        unsafe { call!(cuCtxPopCurrent_v2(&mut popped)) }?;
        result
    }
}

/// Page-locked memory of the host, which copies reach without waiting.
pub(crate) struct Pinned {
    start: *mut u8,
    pub(crate) bytes: usize,
}

// SAFETY: it is memory that it owns, which any thread may reach.
unsafe impl Send for Pinned {}
// SAFETY: shared access gives its address alone.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// In the current context, zeroed.
    pub(crate) fn new(bytes: usize) -> Result<Pinned> {
        /// `CU_MEMHOSTALLOC_PORTABLE`
        const PORTABLE: u32 = 1;
        let mut start = std::ptr::null_mut::<c_void>();
        // SAFETY: the driver writes one address to `start`, which outlives the call.
        unsafe { call!(cuMemHostAlloc(&mut start, bytes, PORTABLE)) }?;
        // SAFETY: the driver has just given `bytes` bytes there, which nothing else knows.
        unsafe { start.write_bytes(0, bytes) };
        Ok(Pinned {
            start: start.cast(),
            bytes,
        })
    }

    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.bytes, "{offset} of {} bytes", self.bytes);
        // SAFETY: the offset is at most the end of the memory.
        unsafe { self.start.add(offset) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let start = self.start.addr();
        // Where this happens the driver may not be called: at the end of a function that it runs itself.
        std::thread::spawn(move || {
            // SAFETY: `new` made the memory, and `drop` runs once. An error means that its context is gone, and the memory with it.
            let _ = unsafe { raw::cuMemFreeHost(start as *mut c_void) };
        });
    }
}
