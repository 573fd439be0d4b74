//! Events: recorded positions in streams, to wait for, to query, and to measure time between.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use warpsmith_driver::raw;

use crate::driver_call::adopt::{self, destroyed};
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::interprocess::EventHandle;
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
    /// Graphs share it whose nodes record it or wait for it.
    state: Arc<EventState>,
}

/// The driver's event, and what is known of it.
struct EventState {
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

/// What an event can do: [`Gpu::event_with`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventOptions {
    /// It measures time, which costs something at each recording.
    pub timed: bool,
    /// A thread that waits for it ([`Event::synchronize`]) sleeps; otherwise it does as the device's
    /// [`SynchronizationPolicy`](crate::SynchronizationPolicy) says, and asks again and again where that is not set.
    pub blocking: bool,
    /// Other processes can open it ([`Gpu::event_interprocess`]); such an event measures no time.
    pub interprocess: bool,
}

impl Default for EventOptions {
    /// It measures time, and nothing else: [`Gpu::event`].
    fn default() -> Self {
        EventOptions {
            timed: true,
            blocking: false,
            interprocess: false,
        }
    }
}

/// Whether an event can measure time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EventTiming {
    Enabled,
    Disabled,
    /// Disabled, and other processes may have the event.
    Interprocess,
}

impl Gpu {
    /// A new event that can measure time.
    pub fn event(&self) -> Result<Event> {
        self.event_with(EventOptions::default())
    }

    /// A new event of this kind.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::EventOptions;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let done = gpu.event_with(EventOptions { blocking: true, ..Default::default() })?;
    /// stream.record(&done)?;
    /// done.synchronize()?;                    // leaves the processor to other threads meanwhile
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// It is to measure time, and to be opened by other processes.
    pub fn event_with(&self, options: EventOptions) -> Result<Event> {
        let timing = match (options.timed, options.interprocess) {
            (true, false) => EventTiming::Enabled,
            (false, false) => EventTiming::Disabled,
            (false, true) => EventTiming::Interprocess,
            (true, true) => {
                return Err(Error::misuse(
                    "cuEventCreate",
                    Code::INVALID_VALUE,
                    "an event that other processes can open measures no time",
                    "make it with `timed: false`",
                ));
            }
        };
        Event::new(self, timing, options.blocking)
    }

    /// A new event that only gives order, which is cheaper.
    pub fn event_untimed(&self) -> Result<Event> {
        self.event_with(EventOptions {
            timed: false,
            ..EventOptions::default()
        })
    }
}

impl Gpu {
    /// A new event that other processes can open ([`Event::export`]). It only gives order.
    ///
    /// A wait is for the recording that was last when it was called, whichever process made it: so a process waits after it was told that
    /// the other one has recorded. Only a wait for its own streams tells a process of panics in its kernels; one for such an event does
    /// not. A captured stream takes no part in it.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let ready = gpu.event_interprocess()?;
    /// stream.record(&ready)?;
    /// let bytes = ready.export()?.to_bytes();             // for another process
    /// # let _ = bytes;
    /// ready.synchronize()
    /// # }
    /// ```
    // covers: IPC-02
    pub fn event_interprocess(&self) -> Result<Event> {
        self.event_with(EventOptions {
            timed: false,
            interprocess: true,
            ..EventOptions::default()
        })
    }

    /// An event of another process. It may be recorded and waited for here as there; each opening is an event of its own with the same
    /// recordings.
    ///
    /// Its recordings are the program's word alone: nothing that this library puts in order depends on them.
    ///
    /// # Errors
    ///
    /// The bytes are no handle of an event that exists, or the event is one of this very process.
    pub fn open_event(&self, handle: EventHandle) -> Result<Event> {
        self.inner.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `raw`, which outlives the call; it looks at any bytes of a handle.
        unsafe { call!(cuIpcOpenEventHandle(&mut raw, handle.to_driver())) }.map_err(|error| {
            let (what, hint) = match error.code() {
                Some(Code::INVALID_CONTEXT) => (
                    "an event of this very process",
                    "use the one that was exported",
                ),
                _ => (
                    "an event of another process",
                    "give what `Event::export` made there, of an event that is alive",
                ),
            };
            error.while_doing(|| what.into()).with_hint(|| hint.into())
        })?;
        // SAFETY: the call above made the event, which nothing else owns.
        let inner = unsafe { adopt::event(raw) };
        Ok(Event::of(self, inner, EventTiming::Interprocess))
    }
}

impl Event {
    fn new(gpu: &Gpu, timing: EventTiming, blocking: bool) -> Result<Event> {
        gpu.inner.bind()?;
        let mut flags = match timing {
            EventTiming::Enabled => cust::event::EventFlags::DEFAULT,
            EventTiming::Disabled => cust::event::EventFlags::DISABLE_TIMING,
            EventTiming::Interprocess => {
                cust::event::EventFlags::DISABLE_TIMING | cust::event::EventFlags::INTERPROCESS
            }
        };
        flags.set(cust::event::EventFlags::BLOCKING_SYNC, blocking);
        let inner = cust::event::Event::new(flags)
            .map_err(|error| driver_call::cust_failed("cuEventCreate", error))?;
        Ok(Event::of(gpu, inner, timing))
    }

    fn of(gpu: &Gpu, inner: cust::event::Event, timing: EventTiming) -> Event {
        Event {
            state: Arc::new(EventState {
                gpu: gpu.inner.clone(),
                inner: ManuallyDrop::new(inner),
                timing,
                capture: AtomicU64::new(0),
                position: Mutex::default(),
            }),
        }
    }

    /// The handle by which other processes open the event ([`Gpu::open_event`]). It lives as long as this event.
    ///
    /// # Errors
    ///
    /// The event was not made by [`Gpu::event_interprocess`] in this process.
    pub fn export(&self) -> Result<EventHandle> {
        self.state.gpu.bind()?;
        let mut handle = raw::CUipcEventHandle { reserved: [0; 64] };
        // SAFETY: the driver writes the handle to `handle`, which outlives the call; `self` owns the event.
        unsafe { call!(cuIpcGetEventHandle(&mut handle, self.raw())) }.map_err(|error| {
            error
                .while_doing(|| "exporting an event".into())
                .with_hint_for(Code::INVALID_HANDLE, || {
                    "only an event of this process that `gpu.event_interprocess()` has made can be exported".into()
                })
        })?;
        Ok(EventHandle::of_driver(handle))
    }

    /// Whether everything before the recorded position is done; true for an event that was never recorded. Does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.refuse_captured("cuEventQuery")?;
        self.state.gpu.bind()?;
        let (reach, answer) = self.at_one_position(|| {
            // SAFETY: `self` owns the event, which its `drop` alone destroys.
            unsafe { call!(cuEventQuery(self.raw())) }
        });
        match answer {
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            done => {
                let done = self.state.gpu.after_wait("cuEventQuery", &reach, done);
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
        self.refuse_captured("cuEventSynchronize")?;
        self.state.gpu.bind()?;
        let (reach, done) = self.at_one_position(|| {
            // SAFETY: `self` owns the event, which its `drop` alone destroys.
            unsafe { call!(cuEventSynchronize(self.raw())) }
        });
        self.state
            .gpu
            .after_wait("cuEventSynchronize", &reach, done)
    }

    /// What `ask` says of the event's position, and what that comes after. Where another thread records the event meanwhile, it is asked again:
    /// nobody would know for which of the two the answer holds.
    fn at_one_position<R>(&self, ask: impl Fn() -> R) -> (Reach, R) {
        loop {
            let position = lock(&self.state.position).clone();
            let answer = ask();
            // A recording under way holds the lock until its position is noted.
            let _order = self.state.gpu.lock_order();
            if lock(&self.state.position).recordings == position.recordings {
                return (position.reach, answer);
            }
        }
    }

    /// The time between two recordings, as the device saw it, with a resolution of about half a microsecond. On the simulator it is the
    /// time that simulating took.
    ///
    /// # Errors
    ///
    /// One of them was not recorded, is not complete yet, cannot measure time or is of another device; or `start` was recorded later.
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration> {
        check_same_device(
            "cuEventElapsedTime",
            ("the start", start.gpu()),
            ("the end", self.gpu()),
        )?;
        for event in [self, start] {
            if !event.is_timed() {
                return Err(Error::misuse(
                    "cuEventElapsedTime",
                    Code::INVALID_HANDLE,
                    "an event made by `event_untimed` or `event_interprocess` measures no time",
                    "make it by `gpu.event()`",
                ));
            }
            event.refuse_captured("cuEventElapsedTime")?;
        }
        self.state.gpu.bind()?;
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
            let (why, hint) = match error.code() {
                Some(Code::NOT_READY) => (
                    "one of the events is not complete",
                    "wait for it first: `event.synchronize()`",
                ),
                Some(Code::INVALID_HANDLE) => (
                    "one of the events was never recorded",
                    "record both: `stream.record(&event)`",
                ),
                _ => return error.while_doing(|| "between two events".into()),
            };
            error.while_doing(|| why.into()).with_hint(|| hint.into())
        })?;
        if milliseconds < 0.0 {
            return Err(Error::misuse(
                "cuEventElapsedTime",
                Code::INVALID_VALUE,
                format!(
                    "the event that the time is to begin at was recorded {} ms later",
                    -milliseconds
                ),
                "ask the later event: `end.elapsed_since(&start)`",
            ));
        }
        Ok(Duration::from_secs_f64(f64::from(milliseconds) * 1e-3))
    }

    /// The driver's handle (`CUevent`), for libraries that wait for the event or ask for it. One that records it breaks what this crate
    /// concludes from its recordings: it is given an event of its own, for which [`Stream::wait_raw_event`](crate::Stream::wait_raw_event) waits.
    pub fn as_raw(&self) -> *mut core::ffi::c_void {
        self.raw().cast()
    }

    pub(crate) fn raw(&self) -> raw::CUevent {
        adopt::event_handle(&self.state.inner)
    }

    /// The same event, for a graph with a node of it.
    pub(crate) fn share(&self) -> Event {
        Event {
            state: self.state.clone(),
        }
    }

    /// Whether the other one shares the event.
    pub(crate) fn is_same(&self, other: &Event) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// What keeps the event.
    pub(crate) fn keeper(&self) -> Arc<dyn Any + Send + Sync> {
        self.state.clone()
    }

    /// Whether it measures time.
    pub(crate) fn is_timed(&self) -> bool {
        self.state.timing == EventTiming::Enabled
    }

    /// Whether other processes may have it.
    pub(crate) fn is_interprocess(&self) -> bool {
        self.state.timing == EventTiming::Interprocess
    }

    pub(crate) fn gpu(&self) -> &Arc<OpenDevice> {
        &self.state.gpu
    }

    /// The number of the capture in which it was last recorded.
    pub(crate) fn capture_number(&self) -> Option<u64> {
        match self.state.capture.load(Ordering::Acquire) {
            0 => None,
            number => Some(number),
        }
    }

    /// What its last recording comes after.
    pub(crate) fn reach(&self) -> Reach {
        lock(&self.state.position).reach.clone()
    }

    /// Notes that it was recorded: in a capture of this number, or after what was really enqueued.
    pub(crate) fn set_position(&self, capture: Option<u64>, reach: Reach) {
        self.state
            .capture
            .store(capture.unwrap_or(0), Ordering::Release);
        let position = &mut *lock(&self.state.position);
        position.recordings += 1;
        // Where another process may record it, a wait for it says nothing of this one's recording.
        position.reach = match self.state.timing {
            EventTiming::Interprocess => Reach::default(),
            EventTiming::Enabled | EventTiming::Disabled => reach,
        };
    }

    /// # Errors
    ///
    /// It was recorded in a stream that was being captured.
    pub(crate) fn refuse_captured(&self, call: &'static str) -> Result<()> {
        if self.capture_number().is_none() {
            return Ok(());
        }
        Err(Error::misuse(
            call,
            Code::CAPTURED_EVENT,
            "the event was recorded in a stream that was being captured: it stands for a node, not for work",
            "record it again outside of the capture; what it is to say when to give back, `capture.keep(value)` gives back with the graph",
        ))
    }
}

impl Drop for EventState {
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
            .field("timing", &self.is_timed())
            .finish_non_exhaustive()
    }
}
