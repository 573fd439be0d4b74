//! A device's primary context: retained once, made current on every thread that needs it, released by its last owner.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use cust::device::Device;
use smallvec::SmallVec;
use warpsmith_driver::raw;
use warpsmith_driver::raw::CUresult;

use super::capability::ComputeCapability;
use super::choice::DeviceChoice;
use super::limits::Limits;
use crate::driver_call::callback::{self, run_where_the_driver_may_be_called};
use crate::driver_call::handle::Handle;
use crate::driver_call::loss::{ContextLoss, unheard};
use crate::driver_call::stream_ref::StreamRef;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result, report_drop_error};

thread_local! {
    /// The context that [`Context::bind_once`] made current on this thread last.
    static BOUND: Cell<raw::CUcontext> = const { Cell::new(std::ptr::null_mut()) };
}

/// The primary context and what never changes about its device. It knows nothing of what is made in it.
pub(crate) struct Context {
    primary: ManuallyDrop<cust::context::Context>,
    raw: Handle<raw::CUcontext>,
    pub(crate) device: raw::CUdevice,
    pub(crate) choice: DeviceChoice,
    pub(crate) name: String,
    pub(crate) capability: ComputeCapability,
    pub(crate) total_memory: usize,
    pub(crate) limits: Limits,
    /// Where the program knows of it, destructors are silent.
    loss: Arc<ContextLoss>,
    /// A stream of this crate's own, for what the host waits for: it is held back only by what that has to come after.
    service_stream: Handle<raw::CUstream>,
    /// Another one, once it is needed, for what nobody waits for: it is held back by work of any streams.
    follower_stream: OnceLock<Handle<raw::CUstream>>,
}

impl Context {
    /// Retains the primary context of a device and makes it current on this thread.
    ///
    /// # Errors
    ///
    /// The driver has no such device, or refuses the context.
    pub(crate) fn new(choice: DeviceChoice) -> Result<Context> {
        let count = Device::num_devices()
            .map_err(|error| driver_call::cust_failed("cuDeviceGetCount", error))?;
        if choice.ordinal() >= count {
            return Err(Error::misuse(
                "cuDeviceGet",
                if count == 0 {
                    Code::NO_DEVICE
                } else {
                    Code::INVALID_DEVICE
                },
                format!("there is no device `{choice}`: the driver shows {count}"),
                "`Gpu::devices()` lists them; WARPSMITH_DEVICE=simulator needs none",
            ));
        }
        let device = Device::get_device(choice.ordinal())
            .map_err(|error| driver_call::cust_failed("cuDeviceGet", error))?;
        let name = device
            .name()
            .map_err(|error| driver_call::cust_failed("cuDeviceGetName", error))?;
        let total_memory = device
            .total_memory()
            .map_err(|error| driver_call::cust_failed("cuDeviceTotalMem", error))?;
        let primary = cust::context::Context::new(device).map_err(|error| {
            driver_call::cust_failed("cuDevicePrimaryCtxRetain", error)
                .while_doing(|| format!("opening {choice}"))
        })?;
        let raw_context = primary.as_raw().cast();
        let loss = ContextLoss::of(raw_context);
        // cust does not look at what cuCtxSetCurrent answered.
        // SAFETY: `primary` has just retained the context.
        unsafe { call!(cuCtxSetCurrent(raw_context)) }?;
        let device = device.as_raw();
        let limits = Limits::of(device)?;
        let service_stream = new_stream()?;
        Ok(Context {
            primary: ManuallyDrop::new(primary),
            raw: Handle::new(raw_context),
            device,
            choice,
            name,
            capability: ComputeCapability::of(device)?,
            total_memory,
            limits,
            loss,
            service_stream,
            follower_stream: OnceLock::new(),
        })
    }

    /// The driver's handle.
    pub(crate) fn raw(&self) -> raw::CUcontext {
        self.raw.raw()
    }

    /// The stream for what this crate enqueues on its own account and waits for. It lives as long as the context and is never captured.
    pub(crate) fn service_stream(&self) -> StreamRef<'_> {
        // SAFETY: only the last owner of the context destroys the stream (`Handles::give_back`).
        unsafe { StreamRef::new(self.service_stream.raw()) }
    }

    /// The stream for what this crate enqueues behind any streams, and never waits for: work that is held up there would hold up what is behind it
    /// here. It lives as long as the context and is never captured.
    ///
    /// # Errors
    ///
    /// It is made now, and the driver refuses.
    pub(crate) fn follower_stream(&self) -> Result<StreamRef<'_>> {
        let stream = match self.follower_stream.get() {
            Some(stream) => stream,
            None => {
                self.bind()?;
                let made = new_stream()?;
                // Where another thread was faster, its stream stays and this one goes.
                if self.follower_stream.set(made).is_err() {
                    // SAFETY: `new_stream` made the stream, and nobody knows it.
                    self.report_drop(unsafe { call!(cuStreamDestroy_v2(made.raw())) });
                }
                self.follower_stream.get().expect("it is set above")
            }
        };
        // SAFETY: only the last owner of the context destroys the stream (`Handles::give_back`).
        Ok(unsafe { StreamRef::new(stream.raw()) })
    }

    /// The streams of this crate's own that there are.
    pub(crate) fn own_stream_refs(&self) -> impl Iterator<Item = StreamRef<'_>> {
        // SAFETY: only the last owner of the context destroys the stream (`Handles::give_back`).
        let borrow = |stream: Handle<raw::CUstream>| unsafe { StreamRef::new(stream.raw()) };
        self.own_streams().map(borrow)
    }

    /// The driver's handles of the streams of this crate's own that there are.
    fn own_streams(&self) -> impl Iterator<Item = Handle<raw::CUstream>> {
        [
            Some(self.service_stream),
            self.follower_stream.get().copied(),
        ]
        .into_iter()
        .flatten()
    }

    /// Those of this crate's own streams that hold work.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    pub(crate) fn busy_own_streams(&self) -> Result<SmallVec<[StreamRef<'_>; 2]>> {
        let mut busy = SmallVec::new();
        for stream in self.own_stream_refs() {
            // SAFETY: `StreamRef` says that the stream is alive.
            match unsafe { call!(cuStreamQuery(stream.raw())) } {
                Ok(()) => {}
                Err(error) if error.code() == Some(Code::NOT_READY) => busy.push(stream),
                Err(error) => return Err(error),
            }
        }
        Ok(busy)
    }

    /// Makes the context current on this thread.
    ///
    /// # Errors
    ///
    /// The thread is inside of a callback, where some drivers would let it wait for itself; or the context is lost.
    // covers: DRV-03
    #[inline]
    pub(crate) fn bind(&self) -> Result<()> {
        callback::refuse_inside()?;
        let mut current = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `current`, which outlives the call.
        let code = unsafe { raw::cuCtxGetCurrent(&mut current) };
        if code.0 == 0 && current == self.raw() {
            Ok(())
        } else {
            self.bind_slowly()
        }
    }

    /// As [`bind`](Self::bind), unless this thread has had the context made current so before: for calls of libraries that make it current themselves.
    /// What they find is not asked for, so it may be what somebody else has made current since; but a thread that has no context at all
    /// is not left to them, which would take that of device 0.
    #[inline]
    pub(crate) fn bind_once(&self) -> Result<()> {
        match BOUND.get() == self.raw() && !callback::is_running() {
            true => Ok(()),
            false => self.bind_first(),
        }
    }

    #[cold]
    fn bind_first(&self) -> Result<()> {
        self.bind()?;
        BOUND.set(self.raw());
        Ok(())
    }

    /// Makes a call that names one of this context's streams, by which the driver knows the context: which one is current matters to none of
    /// the drivers that are known (measured with 13.0). Should it matter, the call is made again with this one. What fails has done nothing.
    /// The legacy default stream alone has a handle that means that of the current context.
    #[inline]
    pub(crate) fn call_in_stream(
        &self,
        stream: raw::CUstream,
        mut call: impl FnMut() -> CUresult,
    ) -> CUresult {
        if stream == raw::CU_STREAM_LEGACY {
            return self.call_in_legacy_stream(call);
        }
        let code = call();
        if code.0 == 0 {
            return code;
        }
        // By value: what it has captured need not be in memory before.
        self.call_bound(code, call)
    }

    #[cold]
    fn call_in_legacy_stream(&self, mut call: impl FnMut() -> CUresult) -> CUresult {
        match self.bind() {
            Ok(()) => call(),
            Err(error) => CUresult(error.code().unwrap_or(Code::INVALID_CONTEXT).0),
        }
    }

    /// Makes the context current, and if it was not makes the call again, which has answered `code`.
    #[cold]
    fn call_bound(&self, code: CUresult, mut call: impl FnMut() -> CUresult) -> CUresult {
        let mut current = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `current`, which outlives the call.
        let asked = unsafe { raw::cuCtxGetCurrent(&mut current) };
        if asked.0 == 0 && current == self.raw() || self.bind_slowly().is_err() {
            return code;
        }
        call()
    }

    /// Makes calls with the context pushed on this thread's stack of contexts. Then it is popped, also where the calls panic, so that the one is
    /// current again that was.
    pub(crate) fn while_bound<R>(&self, calls: impl FnOnce() -> Result<R>) -> Result<R> {
        callback::refuse_inside()?;
        // SAFETY: `self.primary` keeps the context retained.
        unsafe { call!(cuCtxPushCurrent_v2(self.raw())) }?;
        let _pushed = Pushed(self);
        calls()
    }

    #[cold]
    fn bind_slowly(&self) -> Result<()> {
        // SAFETY: `self.primary` keeps the context retained.
        unsafe { call!(cuCtxSetCurrent(self.raw())) }
    }

    /// For destructors: waits for all work on the device.
    pub(crate) fn drain(&self) {
        // SAFETY: the call takes no arguments; it refers to the current context, which every caller has bound.
        self.report_drop(unheard(|| unsafe { call!(cuCtxSynchronize()) }));
    }

    /// Waits until the service stream has done all that it holds.
    pub(crate) fn wait_for_service_stream(&self) -> Result<()> {
        // SAFETY: `new` made the stream, and only `drop` destroys it.
        unsafe { call!(cuStreamSynchronize(self.service_stream.raw())) }
    }

    /// For destructors: destroys something of this context, on a thread of its own where this one may not call the driver, and reports
    /// what could not be done.
    pub(crate) fn destroy(
        self: &Arc<Context>,
        destroy: impl FnOnce() -> Result<()> + Send + 'static,
    ) {
        let context = self.clone();
        run_where_the_driver_may_be_called(move || {
            context.report_drop(unheard(|| context.bind().and_then(|()| destroy())));
        });
    }

    /// For destructors: reports what could not be done; that the context is lost, when nothing can, only if the program does not know.
    pub(crate) fn report_drop(&self, result: Result<()>) {
        report_drop(&self.loss, result);
    }
}

/// A context on top of this thread's stack.
struct Pushed<'a>(&'a Context);

impl Drop for Pushed<'_> {
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `popped`, which outlives the call.
        let result = unsafe { call!(cuCtxPopCurrent_v2(&mut popped)) };
        BOUND.set(std::ptr::null_mut());
        self.0.report_drop(result);
    }
}

/// Does what may make contexts current, of other devices too, in the middle of other work of this thread: afterwards the one is current again
/// that was.
pub(crate) fn keeping_current<R>(work: impl FnOnce() -> R) -> R {
    /// Also where the hook for errors of destructors panics.
    struct Restore(raw::CUcontext);
    impl Drop for Restore {
        fn drop(&mut self) {
            if current().is_ok_and(|current| current != self.0) {
                // SAFETY: the call takes a context or null. One that was destroyed meanwhile is refused, and then none of this thread's is current
                // that its work could have relied on.
                let _ = unsafe { raw::cuCtxSetCurrent(self.0) };
                BOUND.set(std::ptr::null_mut());
            }
        }
    }
    let _restore = current().ok().map(Restore);
    work()
}

/// The context that is current on this thread; null if there is none.
fn current() -> Result<raw::CUcontext> {
    let mut current = std::ptr::null_mut();
    // SAFETY: the driver writes one handle to `current`, which outlives the call.
    unsafe { call!(cuCtxGetCurrent(&mut current)) }?;
    Ok(current)
}

/// A stream of the current context that has nothing to do with the legacy default stream.
fn new_stream() -> Result<Handle<raw::CUstream>> {
    let mut stream = std::ptr::null_mut();
    // SAFETY: the driver writes one handle to `stream`, which outlives the call.
    unsafe {
        call!(cuStreamCreateWithPriority(
            &mut stream,
            raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0,
            0
        ))
    }?;
    Ok(Handle::new(stream))
}

/// What is released with a context's last owner.
struct Handles {
    primary: cust::context::Context,
    raw: Handle<raw::CUcontext>,
    /// This crate's own.
    streams: SmallVec<[Handle<raw::CUstream>; 2]>,
    loss: Arc<ContextLoss>,
}

impl Handles {
    fn give_back(self) {
        // SAFETY: `self.primary` keeps the context retained.
        if let Err(error) = unsafe { call!(cuCtxSetCurrent(self.raw.raw())) } {
            std::mem::forget(self.primary);
            return report_drop(&self.loss, Err(error));
        }
        for stream in self.streams {
            // SAFETY: the context made the stream; its users own the context, whose last owner was dropped.
            let destroyed = unsafe { call!(cuStreamDestroy_v2(stream.raw())) };
            report_drop(&self.loss, destroyed);
        }
        if let Err((error, primary)) = cust::context::Context::drop(self.primary) {
            std::mem::forget(primary);
            let error = driver_call::cust_failed("cuDevicePrimaryCtxRelease", error);
            report_drop(&self.loss, Err(error));
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let handles = Handles {
            // SAFETY: this is the only place that takes the field, and `drop` runs once.
            primary: unsafe { ManuallyDrop::take(&mut self.primary) },
            raw: self.raw,
            streams: self.own_streams().collect(),
            loss: self.loss.clone(),
        };
        run_where_the_driver_may_be_called(move || unheard(|| handles.give_back()));
    }
}

/// Whether an error says that a context is lost, in which nothing runs any more.
pub(crate) fn is_loss(error: &Error) -> bool {
    error.fault().is_some() || error.code().is_some_and(Code::is_fatal)
}

fn report_drop(loss: &ContextLoss, result: Result<()>) {
    let Err(error) = result else { return };
    let code = error.code();
    let is_known = is_loss(&error) && loss.tell("a destructor").is_some();
    if !is_known && code != Some(Code::DEINITIALIZED) {
        report_drop_error(&error);
    }
}
