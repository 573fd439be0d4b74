//! Functions on the host that run when a stream or a graph reaches them.
//!
//! They run on a thread of the driver and must not call it: what this crate does there fails with `CUDA_ERROR_NOT_PERMITTED` or
//! waits for itself. Send a message to another thread instead. Buffers that such a function owns may be dropped there; they are freed
//! later. A panic in one is caught and reported by the next wait.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use crate::context::{GpuInner, lock};
use crate::driver_call::call;
use crate::error::Result;
use crate::stream::Stream;

impl Stream {
    /// Calls `function` once when everything before it in this stream is done; what comes after waits for it.
    ///
    /// If the context is lost before, it is never called (and leaks).
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// stream.host_fn(move || sender.send("here").unwrap())?;
    /// stream.synchronize()?;
    /// assert_eq!(receiver.recv().unwrap(), "here");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The stream is being captured: a captured function would run at each launch of the graph, so it has to be an `Fn`
    /// ([`GraphBuilder::host`](crate::GraphBuilder::host)).
    // covers: STREAM-15, GRAPH-05
    pub fn host_fn(&self, function: impl FnOnce() + Send + 'static) -> Result<()> {
        self.inner.refuse_capture("cuLaunchHostFunc")?;
        self.inner.gpu.bind()?;
        let once = Box::new(Once {
            function: Box::new(function),
            gpu: Arc::downgrade(&self.inner.gpu),
        });
        let data = Box::into_raw(once);
        // SAFETY: the trampoline takes the box back, once.
        let result = unsafe {
            call!(cuLaunchHostFunc(
                self.inner.raw,
                Some(run_once),
                data.cast()
            ))
        };
        if result.is_err() {
            // SAFETY: refused, so never called.
            drop(unsafe { Box::from_raw(data) });
        }
        result
    }
}

struct Once {
    function: Box<dyn FnOnce() + Send>,
    gpu: Weak<GpuInner>,
}

unsafe extern "C" fn run_once(data: *mut core::ffi::c_void) {
    // SAFETY: from `host_fn`, which gave it away; called once.
    let once = unsafe { Box::from_raw(data.cast::<Once>()) };
    guarded(once.function, &once.gpu);
}

/// A function that a graph calls at each launch.
pub(crate) struct Repeated {
    function: Box<dyn Fn() + Send + Sync>,
    gpu: Weak<GpuInner>,
}

impl Repeated {
    pub(crate) fn new(
        gpu: &Arc<GpuInner>,
        function: impl Fn() + Send + Sync + 'static,
    ) -> Repeated {
        Repeated {
            function: Box::new(function),
            gpu: Arc::downgrade(gpu),
        }
    }
}

/// # Safety
/// `data` points to a [`Repeated`] that lives as long as the graph can run.
pub(crate) unsafe extern "C" fn run_repeated(data: *mut core::ffi::c_void) {
    // SAFETY: by the contract.
    let repeated = unsafe { &*data.cast::<Repeated>() };
    guarded(&repeated.function, &repeated.gpu);
}

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside of a host function, where the driver must not be called.
pub(crate) fn is_running() -> bool {
    RUNNING.get()
}

/// Keeps panics on this side of the driver.
fn guarded(function: impl FnOnce(), gpu: &Weak<GpuInner>) {
    RUNNING.set(true);
    let result = catch_unwind(AssertUnwindSafe(function));
    RUNNING.set(false);
    let Err(payload) = result else { return };
    let text = message(&payload);
    // A payload's own destructor may panic too; then it is lost, which is better than an abort.
    std::mem::forget(payload);
    if let Some(gpu) = gpu.upgrade() {
        lock(&gpu.host_panics).push(text);
        gpu.host_panicked.store(true, Ordering::Release);
        // If this was the last handle, its destructor would call the driver from here, which it does not permit.
        if Arc::strong_count(&gpu) == 1 {
            std::thread::spawn(move || drop(gpu));
        }
    }
}

fn message(payload: &Box<dyn Any + Send>) -> String {
    match payload.downcast_ref::<&str>() {
        Some(text) => (*text).into(),
        None => payload
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_else(|| "a panic without a message".into()),
    }
}
