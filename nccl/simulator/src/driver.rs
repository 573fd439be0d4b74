//! Calls of the CUDA driver: of the one that whoever brings this crate's functions to a program says.

use std::ffi::c_void;
use std::sync::OnceLock;

use warpsmith_abi as raw;
use warpsmith_nccl_abi::ncclResult_t;

use crate::failure::{Failure, Result};

/// The driver's functions that are called, as a list for macros: it hands their names to the macro that it is called with.
#[macro_export]
macro_rules! for_each_driver_function {
    ($callback:ident) => {
        $callback! {
            cuCtxGetCurrent,
            cuCtxGetDevice,
            cuCtxPopCurrent_v2,
            cuCtxPushCurrent_v2,
            cuDeviceGetAttribute,
            cuDevicePrimaryCtxRetain,
            cuEventCreate,
            cuEventDestroy_v2,
            cuEventRecord,
            cuGraphRetainUserObject,
            cuLaunchHostFunc,
            cuMemAlloc_v2,
            cuMemFreeHost,
            cuMemFree_v2,
            cuMemHostAlloc,
            cuMemcpyDtoHAsync_v2,
            cuMemcpyHtoDAsync_v2,
            cuStreamGetCaptureInfo_v2,
            cuStreamIsCapturing,
            cuStreamWaitEvent,
            cuThreadExchangeStreamCaptureMode,
            cuUserObjectCreate,
            cuUserObjectRelease
        }
    };
}

macro_rules! driver {
    ($($name:ident),*) => {
        /// A CUDA driver, as far as it is called. All its functions are of one driver and keep the contracts of their names.
        #[allow(non_snake_case)]
        pub struct Driver {
            $(
                #[doc = concat!("The driver's `", stringify!($name), "`.")]
                pub $name: raw::signature::$name,
            )*
        }

        impl Driver {
            /// Looks up every function; the error is the name of one that is missing.
            ///
            /// # Safety
            ///
            /// What `find` answers for a name is the address of the driver's function of that name, valid until the process ends.
            pub unsafe fn resolve(find: &dyn Fn(&str) -> Option<*const c_void>) -> Result<Driver, &'static str> {
                Ok(Driver {
                    $($name: {
                        let address = find(stringify!($name)).ok_or(stringify!($name))?;
                        // SAFETY: this function's condition: the function has the type that its name has in `signature`.
                        unsafe { std::mem::transmute::<*const c_void, raw::signature::$name>(address) }
                    },)*
                })
            }
        }
    };
}
for_each_driver_function!(driver);

static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();

/// Says which driver is called, or why there is none. What was said first holds.
pub fn set_driver(driver: Result<Driver, String>) {
    let _ = DRIVER.set(driver);
}

/// # Errors
///
/// There is none.
pub(crate) fn driver() -> Result<&'static Driver> {
    match DRIVER.get() {
        Some(Ok(driver)) => Ok(driver),
        Some(Err(reason)) => Err(Failure::system("the CUDA driver", reason)),
        None => Err(Failure::system("the CUDA driver", "nothing said which one")),
    }
}

/// `call!(cuFoo(a, b))` calls the driver and gives `Result<()>`. For use inside `unsafe { }`.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        match $crate::driver::driver() {
            Ok(driver) => $crate::driver::check(stringify!($function), (driver.$function)($($argument),*)),
            Err(failure) => Err(failure),
        }
    };
}
pub(crate) use call;

pub(crate) fn check(call: &str, code: raw::CUresult) -> Result<()> {
    match code {
        raw::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(Failure {
            code: ncclResult_t::ncclUnhandledCudaError,
            reason: match code.name() {
                Some(name) => format!("{call}: {name}"),
                None => format!("{call}: CUDA_ERROR_{}", code.0),
            },
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
            let _ = unsafe { call!(cuMemFreeHost(start as *mut c_void)) };
        });
    }
}
