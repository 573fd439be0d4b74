//! Functions on the host that run when a stream or a graph reaches them.
//!
//! They run on a thread of the driver and must not call it: what this crate does there fails with `CUDA_ERROR_NOT_PERMITTED`, and the error
//! names the rule. Send a message to another thread instead. Buffers that such a function owns may be dropped there; they are freed
//! later. A panic in one is caught and told by the first wait that covers it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Stream;
use crate::driver_call::call;
use crate::driver_call::callback::{Running, drop_payload};
use crate::error::Result;
use crate::panics::host_functions::HostFunctionPanics;
use crate::panics::reports::PanicSource;
use crate::panics::timeline::Timeline;

impl Stream {
    /// Calls `function` once when everything before it in this stream is done; what comes after waits for it.
    ///
    /// If the context is lost before, it is never called (and leaks).
    ///
    /// The function must not call the driver, and so not this library: it is refused there ([`Code::NOT_PERMITTED`](crate::Code::NOT_PERMITTED)).
    /// It sends a message to a thread that may, as here; what it owns it may drop.
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
    /// ([`GraphBuilder::host`](crate::GraphBuilder::host)). What the function is only to drop, a graph drops by
    /// [`Capture::keep`](crate::Capture::keep).
    // covers: STREAM-15, GRAPH-05
    pub fn host_fn(&self, function: impl FnOnce() + Send + 'static) -> Result<()> {
        self.handle.refuse_capture(
            "cuLaunchHostFunc",
            "a node calls its function at each launch, and this one can be called once",
            "use `capture.host(stream, function)`, which adds an `Fn` that each launch of the graph calls; what it was only to drop, `capture.keep(value)` drops with the graph",
        )?;
        self.gpu.bind()?;
        let launch = self.handle.timeline().next();
        let once = Box::new(Once {
            function: Box::new(function),
            panics: self.gpu.panics().host_functions().clone(),
            timeline: self.handle.timeline().clone(),
            launch: launch.number,
        });
        let data = Box::into_raw(once);
        // SAFETY: `self` owns the stream; `data` is what `run_once` asks for, and the driver calls it at most once.
        let result = unsafe {
            call!(cuLaunchHostFunc(
                self.handle.raw(),
                Some(run_once),
                data.cast()
            ))
        };
        if result.is_err() {
            // SAFETY: `data` comes from `Box::into_raw` above; the driver refused the function and never calls it.
            drop(unsafe { Box::from_raw(data) });
        }
        result
    }
}

struct Once {
    function: Box<dyn FnOnce() + Send>,
    panics: Arc<HostFunctionPanics>,
    timeline: Arc<Timeline>,
    launch: u64,
}

/// # Safety
///
/// `data` comes from `Box::into_raw` of a [`Once`], and this takes it over.
unsafe extern "C" fn run_once(data: *mut core::ffi::c_void) {
    // SAFETY: the argument is what this function was registered with: its condition.
    let once = unsafe { Box::from_raw(data.cast::<Once>()) };
    if let Some(message) = panic_of(once.function) {
        once.panics.add(once.timeline, once.launch, message);
    }
}

/// A function that a graph calls at each launch.
pub(crate) type HostFunction = Arc<dyn Fn() + Send + Sync>;

/// Such a function as part of an executable graph.
pub(crate) struct Repeated {
    function: HostFunction,
    panics: Arc<HostFunctionPanics>,
    /// The graph, which says as what it runs.
    source: Arc<PanicSource>,
}

impl Repeated {
    pub(crate) fn new(
        panics: &Arc<HostFunctionPanics>,
        source: &Arc<PanicSource>,
        function: &HostFunction,
    ) -> Repeated {
        Repeated {
            function: function.clone(),
            panics: panics.clone(),
            source: source.clone(),
        }
    }
}

/// # Safety
///
/// `data` points to a [`Repeated`] that lives as long as the graph can run.
pub(crate) unsafe extern "C" fn run_repeated(data: *mut core::ffi::c_void) {
    // SAFETY: the argument is what this function was registered with: its condition.
    let repeated = unsafe { &*data.cast::<Repeated>() };
    if let Some(message) = panic_of(&*repeated.function)
        && let Some((timeline, launch)) = repeated.source.running_launch()
    {
        repeated.panics.add(timeline, launch, message);
    }
}

/// Keeps panics on this side of the driver.
fn panic_of(function: impl FnOnce()) -> Option<String> {
    let _running = Running::enter();
    let result = catch_unwind(AssertUnwindSafe(function));
    let payload = result.err()?;
    let message = message(&payload);
    drop_payload(payload);
    Some(message)
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
