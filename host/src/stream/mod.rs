//! Streams: queues of work for the device, each in order, beside each other.

pub(crate) mod event;
pub(crate) mod host_function;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::context::{GpuInner, lock};
use crate::driver_call::adopt;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::graph::capture::CaptureState;
use crate::stream::event::Event;
use warpsmith_driver::raw;

/// How a stream behaves.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let (least, greatest) = gpu.stream_priorities()?;
/// let urgent = gpu.stream_with(StreamOptions { priority: greatest, ..Default::default() })?;
/// assert_eq!(urgent.priority()?, greatest);
/// assert!(greatest <= least);
/// # Ok(())
/// # }
/// ```
// covers: STREAM-18
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamOptions {
    /// Does not wait for the legacy default stream, nor that for it (the default). A blocking stream takes turns with it.
    pub non_blocking: bool,
    /// Smaller is more urgent; [`Gpu::stream_priorities`] gives the range, what is beyond is clamped.
    pub priority: i32,
}

impl Default for StreamOptions {
    fn default() -> Self {
        StreamOptions {
            non_blocking: true,
            priority: 0,
        }
    }
}

/// A queue of work for the device. What one stream holds is done in order; different streams have no order but what events and
/// the use of the same buffers give (that is put in order by itself).
///
/// Dropping a stream does not wait: work that is enqueued is still done.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let squares = stream.upload(&[1, 4, 9])?;
/// assert_eq!(stream.download(&squares)?, [1, 4, 9]);
/// # Ok(())
/// # }
/// ```
// covers: STREAM-07
pub struct Stream {
    pub(crate) inner: Arc<StreamInner>,
    /// Not `Clone`: a capture takes the stream exclusively.
    _unique: PhantomData<()>,
}

pub(crate) struct StreamInner {
    pub(crate) gpu: Arc<GpuInner>,
    pub(crate) raw: raw::CUstream,
    owner: ManuallyDrop<cust::stream::Stream>,
    /// Never used twice in a process.
    pub(crate) number: u64,
    /// `number`, or [`CAPTURED`], which is no memory's owner, so that everything takes the slow path.
    current_number: AtomicU64,
    /// Recorded whenever another stream must follow this one; waits bind to the recording at the time of their call.
    mark: cust::event::Event,
    /// Recorded when a capture begins: all that was really enqueued.
    before_capture: cust::event::Event,
    capture: Mutex<Option<Arc<CaptureState>>>,
}

/// A number that no stream has.
const CAPTURED: u64 = u64::MAX;

static NEXT: AtomicU64 = AtomicU64::new(1);

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for StreamInner {}
// SAFETY: as above; the driver locks streams itself, and the rest is behind locks and atomics.
unsafe impl Sync for StreamInner {}

impl PartialEq for StreamInner {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl std::fmt::Debug for StreamInner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({})", self.number)
    }
}

impl Gpu {
    /// A new stream that does not take turns with the legacy default stream.
    pub fn stream(&self) -> Result<Stream> {
        self.stream_with(StreamOptions::default())
    }

    /// A new stream with these options.
    pub fn stream_with(&self, options: StreamOptions) -> Result<Stream> {
        self.inner.bind()?;
        let flags = if options.non_blocking {
            raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0
        } else {
            0
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the result outlives the call.
        unsafe {
            call!(cuStreamCreateWithPriority(
                &mut handle,
                flags,
                options.priority
            ))
        }?;
        // SAFETY: just made, given to cust alone.
        let owner = ManuallyDrop::new(unsafe { adopt::stream(handle) });
        let event = || {
            cust::event::Event::new(cust::event::EventFlags::DISABLE_TIMING)
                .map_err(|error| driver_call::cust_failed("cuEventCreate", error))
        };
        let inner = Arc::new(
            StreamInner {
                gpu: self.inner.clone(),
                raw: handle,
                owner,
                number: 0,
                current_number: AtomicU64::new(0),
                mark: event()?,
                before_capture: event()?,
                capture: Mutex::new(None),
            }
            .numbered(),
        );
        let mut streams = lock(&self.inner.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(&inner));
        Ok(Stream {
            inner,
            _unique: PhantomData,
        })
    }

    /// The least and the greatest priority of streams; the greatest is the smaller number.
    pub fn stream_priorities(&self) -> Result<(i32, i32)> {
        self.inner.bind()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both results outlive the call.
        unsafe { call!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest)) }?;
        Ok((least, greatest))
    }
}

impl Stream {
    /// The device.
    pub fn gpu(&self) -> Gpu {
        Gpu {
            inner: self.inner.gpu.clone(),
        }
    }

    /// The driver's handle (`CUstream`), for calls of libraries that take one. What those do with memory of this crate is not put in
    /// order with other streams.
    pub fn as_raw(&self) -> *mut core::ffi::c_void {
        self.inner.raw.cast()
    }

    /// The priority that the driver gave it.
    pub fn priority(&self) -> Result<i32> {
        self.inner.gpu.bind()?;
        self.inner
            .owner
            .get_priority()
            .map_err(|error| driver_call::cust_failed("cuStreamGetPriority", error))
    }

    /// Whether it keeps out of the legacy default stream's way.
    pub fn is_non_blocking(&self) -> Result<bool> {
        self.inner.gpu.bind()?;
        let mut flags = 0;
        // SAFETY: the result outlives the call; the stream is alive.
        unsafe { call!(cuStreamGetFlags(self.inner.raw, &mut flags)) }?;
        Ok(flags & raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0 != 0)
    }

    /// Waits until everything in this stream is done.
    ///
    /// # Errors
    ///
    /// What went wrong on the device since the last wait: a kernel's panic, a fault, a panic of a host function. A stream that is
    /// being captured cannot be waited for; the attempt is refused and leaves the capture as it is.
    // covers: STREAM-10, GRAPH-33, ERROR-02
    pub fn synchronize(&self) -> Result<()> {
        self.inner.refuse_capture("cuStreamSynchronize")?;
        self.inner.gpu.bind()?;
        // SAFETY: the stream is alive.
        let done = unsafe { call!(cuStreamSynchronize(self.inner.raw)) };
        self.inner.gpu.after_wait("cuStreamSynchronize", done)
    }

    /// Whether everything in this stream is done. Does not wait.
    // covers: STREAM-12
    pub fn is_idle(&self) -> Result<bool> {
        self.inner.refuse_capture("cuStreamQuery")?;
        self.inner.gpu.bind()?;
        // SAFETY: the stream is alive.
        match unsafe { call!(cuStreamQuery(self.inner.raw)) } {
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            done => self
                .inner
                .gpu
                .after_wait("cuStreamQuery", done)
                .map(|()| true),
        }
    }

    /// Marks this point of the stream: the event is complete once everything before it is done. Recording again moves the mark.
    // covers: EVENT-02
    pub fn record(&self, event: &Event) -> Result<()> {
        event.check_gpu("cuEventRecord", &self.inner)?;
        self.inner.gpu.bind()?;
        let _order = self.inner.gpu.order();
        // SAFETY: both are alive.
        unsafe { call!(cuEventRecord(event.raw(), self.inner.raw)) }?;
        event.set_capture(self.inner.capture().map_or(0, |capture| capture.number));
        Ok(())
    }

    /// Lets later work in this stream wait for the event's most recent recording. The host does not wait. An event that was never
    /// recorded holds nothing up.
    ///
    /// # Errors
    ///
    /// The event was recorded in a stream that is being captured and this one is not part of that capture (see
    /// [`Capture::fork`](crate::Capture::fork)), or the other way round.
    // covers: STREAM-11, EVENT-03, GRAPH-35, GRAPH-36
    pub fn wait(&self, event: &Event) -> Result<()> {
        event.check_gpu("cuStreamWaitEvent", &self.inner)?;
        self.inner.gpu.bind()?;
        let _order = self.inner.gpu.order();
        let here = self.inner.capture().map_or(0, |capture| capture.number);
        let there = event.capture();
        if here != there {
            let (code, message) = match (here, there) {
                (0, _) => (
                    Code::STREAM_CAPTURE_ISOLATION,
                    "the event belongs to a capture that this stream is no part of",
                ),
                (_, 0) => (
                    Code::STREAM_CAPTURE_ISOLATION,
                    "this stream is being captured and the event is not part of the capture",
                ),
                _ => (
                    Code::STREAM_CAPTURE_MERGE,
                    "the event belongs to another capture",
                ),
            };
            return Err(Error::misuse(
                "cuStreamWaitEvent",
                code,
                message,
                "`Capture::fork` brings a stream into a capture; record the event inside the same capture",
            ));
        }
        // SAFETY: both are alive.
        unsafe { call!(cuStreamWaitEvent(self.inner.raw, event.raw(), 0)) }
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl StreamInner {
    fn numbered(mut self) -> StreamInner {
        self.number = NEXT.fetch_add(1, Ordering::Relaxed);
        *self.current_number.get_mut() = self.number;
        self
    }

    /// What a memory's owner is compared with.
    #[inline]
    pub(crate) fn current_number(&self) -> u64 {
        self.current_number.load(Ordering::Relaxed)
    }

    /// The capture that this stream is part of.
    pub(crate) fn capture(&self) -> Option<Arc<CaptureState>> {
        // The usual case without a lock: a stream enters or leaves a capture only while it is borrowed exclusively.
        if self.current_number() != CAPTURED {
            return None;
        }
        lock(&self.capture).clone()
    }

    /// Enters a capture. The caller holds the order lock and calls the driver.
    pub(crate) fn enter_capture(&self, capture: &Arc<CaptureState>) -> Result<()> {
        self.before_capture_now()?;
        *lock(&self.capture) = Some(capture.clone());
        self.current_number.store(CAPTURED, Ordering::Release);
        Ok(())
    }

    pub(crate) fn leave_capture(&self) {
        self.current_number.store(self.number, Ordering::Release);
        *lock(&self.capture) = None;
    }

    fn before_capture_now(&self) -> Result<()> {
        // SAFETY: both are alive; the stream is not captured yet.
        unsafe {
            call!(cuEventRecord(
                adopt::event_handle(&self.before_capture),
                self.raw
            ))
        }
    }

    pub(crate) fn refuse_capture(&self, call: &'static str) -> Result<()> {
        if self.current_number() == CAPTURED {
            return Err(Error::misuse(
                call,
                Code::STREAM_CAPTURE_UNSUPPORTED,
                "the stream is being captured: nothing runs, so there is nothing to wait for or to copy to the host",
                "do this before the capture, or after launching the captured graph",
            ));
        }
        Ok(())
    }

    /// Lets later work in `follower` follow everything enqueued here so far. The caller holds the order lock.
    pub(crate) fn lead(&self, follower: raw::CUstream) -> Result<()> {
        let event = if self.current_number() == CAPTURED {
            // What is captured does not run; what came before has its event.
            adopt::event_handle(&self.before_capture)
        } else {
            let event = adopt::event_handle(&self.mark);
            // SAFETY: both are alive.
            unsafe { call!(cuEventRecord(event, self.raw)) }?;
            event
        };
        // SAFETY: the event is alive, and `follower` by the caller.
        unsafe { call!(cuStreamWaitEvent(follower, event, 0)) }
    }

    /// Lets later work here follow what `other` holds, both being in one capture. The caller holds the order lock.
    pub(crate) fn follow_captured(&self, other: &StreamInner) -> Result<()> {
        let event = adopt::event_handle(&other.mark);
        // SAFETY: all are alive.
        unsafe {
            call!(cuEventRecord(event, other.raw))?;
            call!(cuStreamWaitEvent(self.raw, event, 0))
        }
    }

    /// Whether everything that was really enqueued here is done. The caller holds the order lock.
    pub(crate) fn past_is_done(&self) -> Result<bool> {
        self.gpu.bind()?;
        let answer = if self.current_number() == CAPTURED {
            // SAFETY: the event is alive.
            unsafe { call!(cuEventQuery(adopt::event_handle(&self.before_capture))) }
        } else {
            // SAFETY: the stream is alive.
            unsafe { call!(cuStreamQuery(self.raw)) }
        };
        match answer {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// This moment of the stream, `None` if everything before it is done. The caller holds the order lock.
    pub(crate) fn mark(&self) -> Result<Option<Mark>> {
        let event = self.event()?;
        Ok(event.map(|event| Mark {
            gpu: self.gpu.clone(),
            event,
        }))
    }

    /// An event for everything enqueued so far, for the caller to destroy; `None` if that is done. The caller holds the order lock.
    pub(crate) fn event(&self) -> Result<Option<raw::CUevent>> {
        if self.past_is_done()? {
            return Ok(None);
        }
        if self.current_number() == CAPTURED {
            self.lead(self.gpu.errands)?;
            return record_new(self.gpu.errands).map(Some);
        }
        record_new(self.raw).map(Some)
    }
}

/// A new event, recorded.
fn record_new(stream: raw::CUstream) -> Result<raw::CUevent> {
    let mut event = std::ptr::null_mut();
    // SAFETY: the result outlives the call; the stream is alive by the caller.
    unsafe {
        call!(cuEventCreate(
            &mut event,
            raw::CUevent_flags::CU_EVENT_DISABLE_TIMING.0
        ))?;
        call!(cuEventRecord(event, stream))?;
    }
    Ok(event)
}

/// A moment of a stream.
pub(crate) struct Mark {
    gpu: Arc<GpuInner>,
    event: raw::CUevent,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Mark {}
// SAFETY: as above.
unsafe impl Sync for Mark {}

impl Mark {
    /// Lets later work in `follower` follow it.
    pub(crate) fn lead(&self, follower: raw::CUstream) -> Result<()> {
        // SAFETY: the event is alive, and `follower` by the caller.
        unsafe { call!(cuStreamWaitEvent(follower, self.event, 0)) }
    }

    pub(crate) fn is_done(&self) -> Result<bool> {
        self.gpu.bind()?;
        // SAFETY: the event is alive.
        match unsafe { call!(cuEventQuery(self.event)) } {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// An event of its own for it. The caller holds the order lock.
    pub(crate) fn event(&self) -> Result<Option<raw::CUevent>> {
        if self.is_done()? {
            return Ok(None);
        }
        self.lead(self.gpu.errands)?;
        record_new(self.gpu.errands).map(Some)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let result = self.gpu.bind().and_then(|()| {
            // SAFETY: ours; the driver keeps a pending event until it is complete.
            unsafe { call!(cuEventDestroy_v2(self.event)) }
        });
        self.gpu.report_drop(result);
    }
}

impl std::fmt::Debug for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mark({:?})", self.event)
    }
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        if let Err(error) = self.gpu.bind() {
            return self.gpu.report_drop(Err(error));
        }
        // SAFETY: taken once, here. The driver finishes what is enqueued.
        let stream = unsafe { ManuallyDrop::take(&mut self.owner) };
        if let Err((error, stream)) = cust::stream::Stream::drop(stream) {
            std::mem::forget(stream);
            self.gpu
                .report_drop(Err(driver_call::cust_failed("cuStreamDestroy", error)));
        }
    }
}
