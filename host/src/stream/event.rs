//! Events: marks in streams, to wait for, to ask for, and to measure time between.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::context::GpuInner;
use crate::driver_call::adopt;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::memory::allocation::wrong_gpu;
use crate::stream::StreamInner;
use warpsmith_driver::raw;

/// A mark in a stream.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let (start, stop) = (gpu.event()?, gpu.event()?);
/// stream.record(&start)?;
/// let zeros = stream.zeroed::<f32>(1 << 20)?;
/// stream.record(&stop)?;
/// stop.synchronize()?;
/// println!("{:?}", stop.elapsed_since(&start)?);
/// # drop(zeros);
/// # Ok(())
/// # }
/// ```
// covers: EVENT-01, EVENT-04
pub struct Event {
    gpu: Arc<GpuInner>,
    inner: ManuallyDrop<cust::event::Event>,
    timing: bool,
    /// The number of the capture in which it was last recorded, 0 for none.
    capture: AtomicU64,
}

impl Gpu {
    /// A new event that can measure time.
    pub fn event(&self) -> Result<Event> {
        Event::new(self, true)
    }

    /// A new event that only gives order, which is cheaper.
    pub fn event_untimed(&self) -> Result<Event> {
        Event::new(self, false)
    }
}

impl Event {
    fn new(gpu: &Gpu, timing: bool) -> Result<Event> {
        gpu.inner.bind()?;
        let flags = if timing {
            cust::event::EventFlags::DEFAULT
        } else {
            cust::event::EventFlags::DISABLE_TIMING
        };
        let inner = cust::event::Event::new(flags)
            .map_err(|error| driver_call::cust_failed("cuEventCreate", error))?;
        Ok(Event {
            gpu: gpu.inner.clone(),
            inner: ManuallyDrop::new(inner),
            timing,
            capture: AtomicU64::new(0),
        })
    }

    /// Whether everything before the mark is done; true for an event that was never recorded. Does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.refuse_capture("cuEventQuery")?;
        self.gpu.bind()?;
        // SAFETY: the event is alive.
        match unsafe { call!(cuEventQuery(self.raw())) } {
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            done => self.gpu.after_wait("cuEventQuery", done).map(|()| true),
        }
    }

    /// Waits until everything before the mark is done.
    ///
    /// # Errors
    ///
    /// What went wrong on the device since the last wait.
    pub fn synchronize(&self) -> Result<()> {
        self.refuse_capture("cuEventSynchronize")?;
        self.gpu.bind()?;
        // SAFETY: the event is alive.
        let done = unsafe { call!(cuEventSynchronize(self.raw())) };
        self.gpu.after_wait("cuEventSynchronize", done)
    }

    /// The time between two marks, as the device saw it, with a resolution of about half a microsecond. On the simulator it is the
    /// time that simulating took.
    ///
    /// # Errors
    ///
    /// One of them was not recorded, is not complete yet, or cannot measure time.
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration> {
        for event in [self, start] {
            if !event.timing {
                return Err(Error::misuse(
                    "cuEventElapsedTime",
                    Code::INVALID_HANDLE,
                    "an event made by `event_untimed` measures no time",
                    "make it by `gpu.event()`",
                ));
            }
            event.refuse_capture("cuEventElapsedTime")?;
        }
        self.gpu.bind()?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: both events are alive.
        unsafe {
            call!(cuEventElapsedTime(
                &mut milliseconds,
                start.raw(),
                self.raw()
            ))
        }
        .map_err(|error| {
            let why = match error.code() {
                Some(Code::NOT_READY) => "one of the events is not complete: wait for it first",
                Some(Code::INVALID_HANDLE) => "one of the events was never recorded",
                _ => "between two events",
            };
            error.while_doing(|| why.into())
        })?;
        Ok(Duration::from_secs_f64(
            f64::from(milliseconds.max(0.0)) * 1e-3,
        ))
    }

    pub(crate) fn raw(&self) -> raw::CUevent {
        adopt::event_handle(&self.inner)
    }

    pub(crate) fn check_gpu(&self, call: &'static str, stream: &StreamInner) -> Result<()> {
        if Arc::ptr_eq(&self.gpu, &stream.gpu) {
            Ok(())
        } else {
            Err(wrong_gpu(call))
        }
    }

    pub(crate) fn capture(&self) -> u64 {
        self.capture.load(Ordering::Acquire)
    }

    pub(crate) fn set_capture(&self, number: u64) {
        self.capture.store(number, Ordering::Release);
    }

    fn refuse_capture(&self, call: &'static str) -> Result<()> {
        if self.capture() == 0 {
            return Ok(());
        }
        Err(Error::misuse(
            call,
            Code::CAPTURED_EVENT,
            "the event was recorded in a stream that was being captured: it stands for a node, not for work",
            "record it again outside of the capture",
        ))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Err(error) = self.gpu.bind() {
            return self.gpu.report_drop(Err(error));
        }
        // SAFETY: taken once, here. The driver keeps a pending event until it is complete.
        let event = unsafe { ManuallyDrop::take(&mut self.inner) };
        if let Err((error, event)) = cust::event::Event::drop(event) {
            std::mem::forget(event);
            self.gpu
                .report_drop(Err(driver_call::cust_failed("cuEventDestroy", error)));
        }
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("timing", &self.timing)
            .finish_non_exhaustive()
    }
}
