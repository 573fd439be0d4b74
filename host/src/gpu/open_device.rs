//! What all objects of one open device share: its context, the order of its work, what waits to be freed, what waits to be reported.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use crate::context::choice::DeviceChoice;
use crate::context::limits::Limits;
use crate::context::primary::{Context, keeping_current};
use crate::driver_call::callback::{self, run_where_the_driver_may_be_called};
use crate::driver_call::loss::unheard;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::{Busy, Code, Error, Result, report_drop_error};
use crate::order::device_order::DeviceOrder;
use crate::order::launch_gate::LaunchMode;
use crate::order::order_lock::OrderGuard;
use crate::order::position::StreamPosition;
use crate::order::stream_handle::StreamHandle;
use crate::panics::reports::Panics;
use crate::panics::timeline::Reach;
use crate::reclaim::{Reclaim, Reclaimer};
use crate::settings;
use crate::sync::lock;
use crate::trace::track::Track;
use crate::trace::work::Work;
use crate::trace::{self, DeviceTrace, listeners};

/// The state of an open device, which every object that was made from it owns a share of.
pub(crate) struct OpenDevice {
    state: ManuallyDrop<DeviceState>,
}

/// See [`OpenDevice`], whose destructor closes it.
pub(crate) struct DeviceState {
    context: Arc<Context>,
    order: DeviceOrder,
    reclaimer: Reclaimer,
    panics: Arc<Panics>,
    /// What is noted of all that the device does, if it is.
    trace: Option<DeviceTrace>,
    /// What was to be done on a thread that may not call the driver.
    postponed: Mutex<Vec<Postponed>>,
    /// What was to be done while a stream was captured, which it would have broken.
    after_captures: Mutex<Vec<Postponed>>,
    /// How many want that a profiling tool collects.
    profiler_guards: Mutex<usize>,
}

type Postponed = Box<dyn FnOnce(&DeviceState) + Send>;

impl Deref for OpenDevice {
    type Target = DeviceState;

    #[inline]
    fn deref(&self) -> &DeviceState {
        &self.state
    }
}

impl OpenDevice {
    /// # Errors
    ///
    /// The driver has no such device, or refuses the context.
    pub(crate) fn new(choice: DeviceChoice) -> Result<OpenDevice> {
        let mode = if settings::launch_blocking() {
            LaunchMode::Blocking
        } else {
            LaunchMode::Asynchronous
        };
        let context = Arc::new(Context::new(choice)?);
        let trace = DeviceTrace::open(&context)?;
        let order = DeviceOrder::new(mode);
        if trace.is_some() {
            order.launch_gate.require_trace();
        }
        Ok(OpenDevice {
            state: ManuallyDrop::new(DeviceState {
                panics: Panics::new(&context),
                context,
                order,
                trace,
                reclaimer: Reclaimer::default(),
                postponed: Mutex::default(),
                after_captures: Mutex::default(),
                profiler_guards: Mutex::default(),
            }),
        })
    }
}

/// What an object is, in the words of an error, and whose.
pub(crate) type Owned<'a> = (&'static str, &'a Arc<OpenDevice>);

/// # Errors
///
/// Two objects that are used together belong to different devices.
#[inline]
pub(crate) fn check_same_device(
    call: &'static str,
    one: Owned<'_>,
    other: Owned<'_>,
) -> Result<()> {
    if Arc::ptr_eq(one.1, other.1) {
        Ok(())
    } else {
        Err(wrong_device(call, one, other))
    }
}

#[cold]
fn wrong_device(call: &'static str, one: Owned<'_>, other: Owned<'_>) -> Error {
    let [first, second] = [one, other].map(|(what, gpu)| (what, gpu.context().choice));
    Error::misuse(
        call,
        Code::INVALID_CONTEXT,
        format!(
            "{} is of `{}`, {} of `{}`",
            first.0, first.1, second.0, second.1
        ),
        "make what is used together from the same `Gpu`; `stream.copy_from_peer` copies between devices",
    )
}

/// Lets work of each of the two devices follow that of the other, from here on: they have one order lock, and a wait on the one tells of
/// panics on the other that it covers. The caller holds no order lock.
pub(crate) fn put_in_one_order(one: &OpenDevice, other: &OpenDevice) {
    for gpu in [one, other] {
        gpu.order.share_lock();
        gpu.panics.share();
    }
}

impl DeviceState {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Makes the context current on this thread.
    #[inline]
    pub(crate) fn bind(&self) -> Result<()> {
        self.context.bind()
    }

    /// As [`bind`](Self::bind), unless this thread has had the context made current so before.
    #[inline]
    pub(crate) fn bind_once(&self) -> Result<()> {
        self.context.bind_once()
    }

    #[inline]
    pub(crate) fn limits(&self) -> &Limits {
        &self.context.limits
    }

    #[inline]
    pub(crate) fn order(&self) -> &DeviceOrder {
        &self.order
    }

    /// Refuses what runs kernels in a stream while the host has unified memory open that this device cannot share. The caller holds the order
    /// lock.
    pub(crate) fn refuse_beside_host_accesses(
        &self,
        call: &'static str,
        stream: &StreamHandle,
    ) -> Result<()> {
        let of_device = self.order.launch_gate.state().has_host_accesses();
        if !of_device && !stream.host_accesses().are_open() {
            return Ok(());
        }
        Err(Error::Busy(Box::new(Busy {
            call,
            reason:
                "the host has unified memory open, and this device cannot run kernels meanwhile"
                    .into(),
            hint: "drop the guards of `host()` and `host_mut()` first",
        })))
    }

    /// Takes the order lock.
    pub(crate) fn lock_order(&self) -> OrderGuard<'_> {
        self.order.lock()
    }

    pub(crate) fn panics(&self) -> &Arc<Panics> {
        &self.panics
    }

    /// What is noted of all that the device does, if it is.
    #[inline]
    pub(crate) fn trace(&self) -> Option<&DeviceTrace> {
        self.trace.as_ref()
    }

    /// Whether pieces of work are noted, or somebody listens to them.
    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.trace.is_some() || listeners::are_there()
    }

    /// Enqueues a piece of work, which is traced where the device is and the track is one.
    #[inline]
    pub(crate) fn traced<'t, 'w, R>(
        &self,
        track: impl FnOnce() -> Option<Track<'t>>,
        work: impl FnOnce() -> Work<'w>,
        enqueue: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        if !self.is_traced() {
            return enqueue();
        }
        match track() {
            Some(track) => {
                trace::enqueue(self.trace(), self.context.choice, track, work(), enqueue)
            }
            None => enqueue(),
        }
    }

    /// Does something on the host, which is traced where the device is.
    pub(crate) fn traced_on_host<'w, R>(
        &self,
        work: impl FnOnce() -> Work<'w>,
        call: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        match self.is_traced() {
            true => trace::on_host(self.trace(), self.context.choice, work(), call),
            false => call(),
        }
    }

    /// Whether memory may be freed on this thread, and nobody is to be told of it.
    #[inline]
    pub(crate) fn frees_plainly(&self) -> bool {
        !self.is_traced() && !callback::is_running()
    }

    /// How many want that a profiling tool collects.
    pub(super) fn profiler_guards(&self) -> &Mutex<usize> {
        &self.profiler_guards
    }

    /// The stream for what this crate enqueues on its own account.
    pub(crate) fn service_stream(&self) -> StreamRef<'_> {
        self.context.service_stream()
    }

    /// What every wait for a position that comes after `reach` ends with: errors in the order of their interest, of which the wait tells one.
    /// What it does not tell is left to the next one.
    ///
    /// # Errors
    ///
    /// Kernels' panics, `done` itself, panics of functions on the host.
    pub(crate) fn after_wait(
        &self,
        call: &'static str,
        reach: &Reach,
        done: Result<()>,
    ) -> Result<()> {
        if done.is_ok() {
            reach.set_past();
        }
        self.panics.take_kernel_panics(reach)?;
        done?;
        self.panics.take_host_function_panics(call, reach)?;
        reach.set_done();
        self.reclaim();
        Ok(())
    }

    /// For destructors: reports what could not be done; that the context is lost, when nothing can, only if the program does not know.
    pub(crate) fn report_drop(&self, result: Result<()>) {
        self.context.report_drop(result);
    }

    /// Frees `what` some time after these positions are past.
    pub(crate) fn retire(&self, what: Box<dyn Reclaim>, positions: &[StreamPosition]) {
        unheard(|| {
            self.reclaimer
                .retire(&self.context, &self.order, what, positions)
        });
        self.reclaim();
    }

    /// As [`retire`](Self::retire), for objects that any stream may be using.
    pub(crate) fn retire_from_all(&self, what: Box<dyn Reclaim>) {
        unheard(|| {
            self.reclaimer
                .retire_from_all(&self.context, &self.order, what)
        });
        self.reclaim();
    }

    /// Takes something that waits to be freed for another use.
    pub(crate) fn take_unused<T: Reclaim>(&self, is_wanted: impl Fn(&T) -> bool) -> Option<Box<T>> {
        keeping_current(|| {
            self.do_postponed();
            unheard(|| self.reclaimer.take_unused(is_wanted))
        })
    }

    /// Frees what nothing uses any more. What a graph of several devices used may be another one's; the context that is current stays.
    pub(crate) fn reclaim(&self) {
        keeping_current(|| {
            self.do_postponed();
            unheard(|| {
                self.order.destroy_idle_streams();
                self.reclaimer.reclaim(&self.context, &self.order);
            });
        });
    }

    /// Does `work` now, or where this thread may not call the driver at the next wait or allocation of another one. The work must not
    /// own a share of the device.
    pub(crate) fn call_driver_later(&self, work: impl FnOnce(&DeviceState) + Send + 'static) {
        if callback::is_running() {
            lock(&self.postponed).push(Box::new(work));
        } else {
            unheard(|| work(self));
        }
    }

    /// Does `work` now, or at the first wait or allocation after all captures if a stream is captured. The work must not own a share of the
    /// device.
    pub(crate) fn after_captures(&self, work: impl FnOnce(&DeviceState) + Send + 'static) {
        if self.order.is_capturing() {
            lock(&self.after_captures).push(Box::new(work));
        } else {
            unheard(|| work(self));
        }
    }

    fn do_postponed(&self) {
        let mut postponed = std::mem::take(&mut *lock(&self.postponed));
        if !self.order.is_capturing() {
            postponed.append(&mut lock(&self.after_captures));
        }
        unheard(|| postponed.into_iter().for_each(|work| work(self)));
    }

    /// Frees what still waits, once the device is idle. The last object of this device was dropped, so no other work is awaited.
    fn close(mut self) {
        if let Err(error) = self.bind() {
            return self.report_drop(Err(error));
        }
        let trace = self.trace.take();
        self.context.drain();
        if let Some(Err(error)) = trace.map(DeviceTrace::close) {
            report_drop_error(&error);
        }
        self.do_postponed();
        self.reclaimer.reclaim_all(&self.context);
        self.order.forget_streams();
        for panic in self.panics.take_all() {
            report_drop_error(&Error::KernelPanic(Box::new(panic)));
        }
        if let Err(error) = self.panics.host_functions().take_all("cuCtxSynchronize") {
            report_drop_error(&error);
        }
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the field, and `drop` runs once.
        let state = unsafe { ManuallyDrop::take(&mut self.state) };
        run_where_the_driver_may_be_called(move || unheard(|| state.close()));
    }
}
