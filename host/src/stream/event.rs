//! Events: recorded positions in streams, to wait for, to query, and to measure time between.

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use warpsmith_driver::raw;

use crate::driver_call::adopt::{self, destroyed};
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;
use crate::panics::timeline::Reach;
use crate::sync::lock;

/// A position in a stream, once it is recorded.
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
    gpu: Arc<OpenDevice>,
    inner: ManuallyDrop<cust::event::Event>,
    timing: EventTiming,
    /// The number of the capture in which it was last recorded, 0 for none.
    capture: AtomicU64,
    /// What its last recording comes after.
    position: Mutex<Position>,
}

/// Where an event was recorded last.
#[derive(Clone, Default)]
struct Position {
    /// How often it was recorded.
    recordings: u64,
    /// What the position comes after.
    reach: Reach,
}

/// Whether an event can measure time, which costs something at each recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EventTiming {
    Enabled,
    Disabled,
}

impl Gpu {
    /// A new event that can measure time.
    pub fn event(&self) -> Result<Event> {
        Event::new(self, EventTiming::Enabled)
    }

    /// A new event that only gives order, which is cheaper.
    pub fn event_untimed(&self) -> Result<Event> {
        Event::new(self, EventTiming::Disabled)
    }
}

impl Event {
    fn new(gpu: &Gpu, timing: EventTiming) -> Result<Event> {
        gpu.inner.bind()?;
        let flags = match timing {
            EventTiming::Enabled => cust::event::EventFlags::DEFAULT,
            EventTiming::Disabled => cust::event::EventFlags::DISABLE_TIMING,
        };
        let inner = cust::event::Event::new(flags)
            .map_err(|error| driver_call::cust_failed("cuEventCreate", error))?;
        Ok(Event {
            gpu: gpu.inner.clone(),
            inner: ManuallyDrop::new(inner),
            timing,
            capture: AtomicU64::new(0),
            position: Mutex::default(),
        })
    }

    /// Whether everything before the recorded position is done; true for an event that was never recorded. Does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.refuse_capture("cuEventQuery")?;
        self.gpu.bind()?;
        let (reach, answer) = self.at_one_position(|| {
            // SAFETY: `self` owns the event, which its `drop` alone destroys.
            unsafe { call!(cuEventQuery(self.raw())) }
        });
        match answer {
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            done => {
                let done = self.gpu.after_wait("cuEventQuery", &reach, done);
                done.map(|()| true)
            }
        }
    }

    /// Waits until everything before the recorded position is done.
    ///
    /// # Errors
    ///
    /// What went wrong before the recorded position and was not told yet, as for [`Stream::synchronize`](crate::Stream::synchronize).
    pub fn synchronize(&self) -> Result<()> {
        self.refuse_capture("cuEventSynchronize")?;
        self.gpu.bind()?;
        let (reach, done) = self.at_one_position(|| {
            // SAFETY: `self` owns the event, which its `drop` alone destroys.
            unsafe { call!(cuEventSynchronize(self.raw())) }
        });
        self.gpu.after_wait("cuEventSynchronize", &reach, done)
    }

    /// What `ask` says of the event's position, and what that comes after. Where another thread records the event meanwhile, it is asked again:
    /// nobody would know for which of the two the answer holds.
    fn at_one_position<R>(&self, ask: impl Fn() -> R) -> (Reach, R) {
        loop {
            let position = lock(&self.position).clone();
            let answer = ask();
            // A recording under way holds the lock until its position is noted.
            let _order = self.gpu.lock_order();
            if lock(&self.position).recordings == position.recordings {
                return (position.reach, answer);
            }
        }
    }

    /// The time between two recordings, as the device saw it, with a resolution of about half a microsecond. On the simulator it is the
    /// time that simulating took.
    ///
    /// # Errors
    ///
    /// One of them was not recorded, is not complete yet, or cannot measure time.
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration> {
        for event in [self, start] {
            if event.timing == EventTiming::Disabled {
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
        // SAFETY: `self` and `start` own their events; the driver writes one number to `milliseconds`, which outlives the call.
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

    /// Whether it measures time.
    pub(crate) fn is_timed(&self) -> bool {
        self.timing == EventTiming::Enabled
    }

    pub(crate) fn gpu(&self) -> &Arc<OpenDevice> {
        &self.gpu
    }

    /// The number of the capture in which it was last recorded.
    pub(crate) fn capture_number(&self) -> Option<u64> {
        match self.capture.load(Ordering::Acquire) {
            0 => None,
            number => Some(number),
        }
    }

    /// What its last recording comes after.
    pub(crate) fn reach(&self) -> Reach {
        lock(&self.position).reach.clone()
    }

    /// Notes that it was recorded: in a capture of this number, or after what was really enqueued.
    pub(crate) fn set_position(&self, capture: Option<u64>, reach: Reach) {
        self.capture.store(capture.unwrap_or(0), Ordering::Release);
        let position = &mut *lock(&self.position);
        position.recordings += 1;
        position.reach = reach;
    }

    fn refuse_capture(&self, call: &'static str) -> Result<()> {
        if self.capture_number().is_none() {
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
        // SAFETY: this is the only place that takes the field, and `drop` runs once. The driver keeps a pending event until it is
        // complete.
        let event = unsafe { ManuallyDrop::take(&mut self.inner) };
        self.gpu
            .context()
            .destroy(move || destroyed("cuEventDestroy", cust::event::Event::drop(event)));
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("timing", &(self.timing == EventTiming::Enabled))
            .finish_non_exhaustive()
    }
}
