//! A device's primary context: retained once, made current on every thread that needs it, released by its last owner.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cust::device::Device;
use warpsmith_driver::raw;

use super::capability::ComputeCapability;
use super::choice::DeviceChoice;
use super::limits::Limits;
use crate::driver_call::callback::run_where_the_driver_may_be_called;
use crate::driver_call::handle::Handle;
use crate::driver_call::stream_ref::StreamRef;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result, report_drop_error};

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
    /// Set by the first fault that makes the context unusable: destructors report no errors from then on.
    lost: AtomicBool,
    /// A stream of this crate's own: for frees that wait for several streams, and for copies beside all streams.
    service_stream: Handle<raw::CUstream>,
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
        // cust does not look at what cuCtxSetCurrent answered.
        // SAFETY: `primary` has just retained the context.
        unsafe { call!(cuCtxSetCurrent(raw_context)) }?;
        let device = device.as_raw();
        let limits = Limits::of(device)?;
        let mut service_stream = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `service_stream`, which outlives the call; the context is current since above.
        unsafe {
            call!(cuStreamCreateWithPriority(
                &mut service_stream,
                raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0,
                0
            ))
        }?;
        Ok(Context {
            primary: ManuallyDrop::new(primary),
            raw: Handle::new(raw_context),
            device,
            choice,
            name,
            capability: ComputeCapability::of(device)?,
            total_memory,
            limits,
            lost: AtomicBool::new(false),
            service_stream: Handle::new(service_stream),
        })
    }

    /// The driver's handle.
    pub(crate) fn raw(&self) -> raw::CUcontext {
        self.raw.raw()
    }

    /// The stream for what this crate enqueues on its own account. It lives as long as the context and is never captured.
    pub(crate) fn service_stream(&self) -> StreamRef<'_> {
        // SAFETY: only the last owner of the context destroys the stream (`Handles::give_back`).
        unsafe { StreamRef::new(self.service_stream.raw()) }
    }

    /// Makes the context current on this thread.
    // covers: DRV-03
    #[inline]
    pub(crate) fn bind(&self) -> Result<()> {
        let mut current = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `current`, which outlives the call.
        let code = unsafe { raw::cuCtxGetCurrent(&mut current) };
        if code.0 == 0 && current == self.raw() {
            Ok(())
        } else {
            self.bind_slowly()
        }
    }

    #[cold]
    fn bind_slowly(&self) -> Result<()> {
        // SAFETY: `self.primary` keeps the context retained.
        unsafe { call!(cuCtxSetCurrent(self.raw())) }
    }

    /// Notes whether a result says that the context is lost.
    pub(crate) fn note_result(&self, result: &Result<()>) {
        if let Err(error) = result
            && error.code().is_some_and(Code::is_fatal)
        {
            self.lost.store(true, Ordering::Relaxed);
        }
    }

    /// Waits for all work on the device. Where that fails the context counts as lost.
    pub(crate) fn drain(&self) {
        // SAFETY: the call takes no arguments; it refers to the current context, which every caller has bound.
        if unsafe { call!(cuCtxSynchronize()) }.is_err() {
            self.lost.store(true, Ordering::Relaxed);
        }
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
            let result = context.bind().and_then(|()| destroy());
            context.report_drop(result);
        });
    }

    /// For destructors: reports what could not be done, unless the context is lost and nothing can.
    pub(crate) fn report_drop(&self, result: Result<()>) {
        report_unless_lost(self.lost.load(Ordering::Relaxed), result);
    }
}

/// What is released with a context's last owner.
struct Handles {
    primary: cust::context::Context,
    raw: Handle<raw::CUcontext>,
    service_stream: Handle<raw::CUstream>,
    lost: bool,
}

impl Handles {
    fn give_back(self) {
        // SAFETY: `self.primary` keeps the context retained.
        if let Err(error) = unsafe { call!(cuCtxSetCurrent(self.raw.raw())) } {
            std::mem::forget(self.primary);
            return report_unless_lost(self.lost, Err(error));
        }
        // SAFETY: `Context::new` made the stream; its users own the context, whose last owner was dropped.
        let destroyed = unsafe { call!(cuStreamDestroy_v2(self.service_stream.raw())) };
        report_unless_lost(self.lost, destroyed);
        if let Err((error, primary)) = cust::context::Context::drop(self.primary) {
            std::mem::forget(primary);
            let error = driver_call::cust_failed("cuDevicePrimaryCtxRelease", error);
            report_unless_lost(self.lost, Err(error));
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let handles = Handles {
            // SAFETY: this is the only place that takes the field, and `drop` runs once.
            primary: unsafe { ManuallyDrop::take(&mut self.primary) },
            raw: self.raw,
            service_stream: self.service_stream,
            lost: *self.lost.get_mut(),
        };
        run_where_the_driver_may_be_called(move || handles.give_back());
    }
}

fn report_unless_lost(lost: bool, result: Result<()>) {
    if let Err(error) = result
        && !lost
        && error.code() != Some(Code::DEINITIALIZED)
    {
        report_drop_error(&error);
    }
}
