//! A stream as the ordering rule sees it: the driver's handle, a number, its launches, and whether it is captured.

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use warpsmith_driver::raw;

use super::host_accesses::HostAccesses;
use super::order_lock::OrderGuard;
use super::pool_lane::PoolLane;
use super::recorded_event::RecordedEvent;
use crate::context::keeper::Keeper;
use crate::context::primary::Context;
use crate::driver_call::adopt::destroyed;
use crate::driver_call::handle::Handle;
use crate::driver_call::stream_ref::StreamRef;
use crate::driver_call::{self, adopt, call};
use crate::error::{Code, Error, Result};
use crate::panics::reports::{PanicSource, Panics};
use crate::panics::timeline::{Reach, Timeline};
use crate::sync::lock;

/// The driver's stream, with the events by which other streams follow it.
/// What each launch reads of it stands first, in one line of the cache.
#[repr(C, align(64))]
pub(crate) struct StreamHandle {
    context: Arc<Context>,
    raw: Handle<raw::CUstream>,
    /// Never used twice in a process.
    number: u64,
    /// `number`, or [`CAPTURED`], which is no memory's owner, so that everything takes the slow path.
    current_number: AtomicU64,
    /// The number of the capture that it is part of, 0 for none.
    capture_number: AtomicU64,
    /// Its launches.
    timeline: Arc<Timeline>,
    /// Where its kernels tell of panics.
    panics: Arc<PanicSource>,
    /// How memory of pools is freed here, and what of it is kept.
    lane: Arc<PoolLane>,
    /// How the last launch that wished to overlap with the one before it does so; held while such a launch is enqueued.
    overlap: Mutex<Overlap>,
    /// Open accesses of the host to unified memory that is attached here, on a device that cannot share it: no kernel may run here beside.
    host_accesses: HostAccesses,
    owned: ManuallyDrop<Owned>,
    /// How it stands to the legacy default stream.
    pub(crate) role: StreamRole,
}

/// How a stream stands to the legacy default stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamRole {
    /// It is that.
    Legacy,
    /// Takes turns with it.
    Blocking,
    /// Has nothing to do with it.
    NonBlocking,
}

/// Whether a launch may begin before the one before it in its stream has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Overlap {
    /// It comes after all that is before it.
    #[default]
    No,
    /// It may, and waits for the end of the one before in any case: what comes after it comes after that, too.
    Awaited,
    /// It may, and may end without having waited.
    Unawaited,
}

/// Who destroys the driver's stream.
enum Owner {
    /// The handle.
    Handle(cust::stream::Stream),
    /// Nobody: it is the legacy default stream.
    Driver,
    /// Another library, of which this is kept until then.
    Library(Keeper),
}

/// What is destroyed with a stream.
struct Owned {
    stream: Owner,
    /// Recorded whenever another stream must follow this one; waits bind to the recording at the time of their call.
    handover: cust::event::Event,
    /// Recorded when a capture begins: all that was really enqueued.
    before_capture: cust::event::Event,
}

/// A number that no stream has.
const CAPTURED: u64 = u64::MAX;

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

impl PartialEq for StreamHandle {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl std::fmt::Debug for StreamHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({})", self.number)
    }
}

impl StreamHandle {
    /// A new stream of the driver, with its flags and priority.
    pub(crate) fn create(
        context: &Arc<Context>,
        panics: &Arc<Panics>,
        flags: raw::CUstream_flags,
        priority: i32,
    ) -> Result<Arc<StreamHandle>> {
        context.bind()?;
        let role = match flags {
            raw::CUstream_flags::CU_STREAM_NON_BLOCKING => StreamRole::NonBlocking,
            _ => StreamRole::Blocking,
        };
        StreamHandle::with(context, panics, role, || {
            let mut raw = std::ptr::null_mut();
            // SAFETY: the driver writes one handle to `raw`, which outlives the call.
            unsafe { call!(cuStreamCreateWithPriority(&mut raw, flags.0, priority)) }?;
            // SAFETY: the call above made the stream, and nothing else owns it.
            Ok((raw, Owner::Handle(unsafe { adopt::stream(raw) })))
        })
    }

    /// The legacy default stream of the context.
    pub(crate) fn legacy(
        context: &Arc<Context>,
        panics: &Arc<Panics>,
    ) -> Result<Arc<StreamHandle>> {
        context.bind()?;
        StreamHandle::with(context, panics, StreamRole::Legacy, || {
            Ok((raw::CU_STREAM_LEGACY, Owner::Driver))
        })
    }

    /// A stream of another library, which exists until what `keep` gives is dropped; that is called last.
    pub(crate) fn adopt(
        context: &Arc<Context>,
        panics: &Arc<Panics>,
        raw: raw::CUstream,
        role: StreamRole,
        keep: impl FnOnce() -> Keeper,
    ) -> Result<Arc<StreamHandle>> {
        context.bind()?;
        StreamHandle::with(context, panics, role, || Ok((raw, Owner::Library(keep()))))
    }

    fn with(
        context: &Arc<Context>,
        panics: &Arc<Panics>,
        role: StreamRole,
        make: impl FnOnce() -> Result<(raw::CUstream, Owner)>,
    ) -> Result<Arc<StreamHandle>> {
        let timeline = Arc::<Timeline>::default();
        let panics = panics.add_stream(&timeline)?;
        let event = || {
            cust::event::Event::new(cust::event::EventFlags::DISABLE_TIMING)
                .map_err(|error| driver_call::cust_failed("cuEventCreate", error))
        };
        let (handover, before_capture) = (event()?, event()?);
        let (raw, stream) = make()?;
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(StreamHandle {
            context: context.clone(),
            raw: Handle::new(raw),
            owned: ManuallyDrop::new(Owned {
                stream,
                handover,
                before_capture,
            }),
            number,
            current_number: AtomicU64::new(number),
            capture_number: AtomicU64::new(0),
            timeline,
            panics,
            overlap: Mutex::default(),
            host_accesses: HostAccesses::default(),
            lane: Arc::new(PoolLane::new(Handle::new(raw), number)),
            role,
        }))
    }

    /// The driver's handle, valid as long as `self`.
    #[inline]
    pub(crate) fn raw(&self) -> raw::CUstream {
        self.raw.raw()
    }

    #[inline]
    pub(crate) fn stream_ref(&self) -> StreamRef<'_> {
        // SAFETY: only `drop` destroys the stream.
        unsafe { StreamRef::new(self.raw()) }
    }

    /// Whether it is a stream of this context.
    pub(crate) fn is_in(&self, context: &Context) -> bool {
        self.context.raw() == context.raw()
    }

    /// The stream's number, which no other stream of this process ever has.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Enqueues a launch; `enqueue` is told whether it may overlap with the one before it. A launch waits for the end of the one before
    /// alone. So behind one that need not have waited for anything itself, it comes after everything.
    pub(crate) fn overlapping<R>(&self, wish: Overlap, enqueue: impl FnOnce(bool) -> R) -> R {
        // What another library has launched before may not have waited for anything.
        if wish == Overlap::No || matches!(self.owned.stream, Owner::Library(_)) {
            return enqueue(false);
        }
        let mut last = lock(&self.overlap);
        // In a graph, what comes after a node comes after nothing that is before that.
        let stays_open = wish == Overlap::Unawaited && self.is_captured();
        let may = *last != Overlap::Unawaited && !stays_open;
        let done = enqueue(may);
        *last = if may { wish } else { Overlap::No };
        done
    }

    /// The host's open accesses to unified memory that is attached here.
    pub(crate) fn host_accesses(&self) -> &HostAccesses {
        &self.host_accesses
    }

    /// How memory of pools is freed here, while the stream is not captured.
    #[inline]
    pub(crate) fn lane(&self) -> &Arc<PoolLane> {
        &self.lane
    }

    /// Its launches.
    #[inline]
    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// Where its kernels tell of panics.
    #[inline]
    pub(crate) fn panics(&self) -> &PanicSource {
        &self.panics
    }

    /// What a memory's owner is compared with: the stream's number, or while it is captured one that owns nothing.
    #[inline]
    pub(crate) fn current_number(&self) -> u64 {
        self.current_number.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn is_captured(&self) -> bool {
        self.current_number() == CAPTURED
    }

    /// The number of the capture that this stream is part of.
    pub(crate) fn capture_number(&self) -> Option<u64> {
        match self.capture_number.load(Ordering::Acquire) {
            0 => None,
            number => Some(number),
        }
    }

    /// Enters a capture. The caller tells the driver, and has the stream borrowed exclusively until it leaves.
    pub(crate) fn enter_capture(&self, _guard: &OrderGuard<'_>, number: u64) -> Result<()> {
        // SAFETY: `self` owns the event and the stream; the stream is not captured yet.
        unsafe {
            call!(cuEventRecord(
                adopt::event_handle(&self.owned.before_capture),
                self.raw()
            ))
        }?;
        self.lane.shut(true);
        self.capture_number.store(number, Ordering::Release);
        self.current_number.store(CAPTURED, Ordering::Release);
        Ok(())
    }

    /// Leaves the capture, which the caller has ended.
    pub(crate) fn leave_capture(&self, _guard: &OrderGuard<'_>) {
        self.current_number.store(self.number, Ordering::Release);
        self.capture_number.store(0, Ordering::Release);
        self.lane.shut(false);
    }

    /// # Errors
    ///
    /// The stream is being captured, when `call` cannot work: `why` not, and what to do `instead`.
    #[inline]
    pub(crate) fn refuse_capture(
        &self,
        call: &'static str,
        why: &str,
        instead: &str,
    ) -> Result<()> {
        match self.is_captured() {
            true => Err(captured(call, why, instead)),
            false => Ok(()),
        }
    }

    /// Makes later work in `follower`, whose context is current, wait for everything enqueued here so far.
    pub(crate) fn hold_back(&self, _guard: &OrderGuard<'_>, follower: StreamRef<'_>) -> Result<()> {
        let event = if self.is_captured() {
            // What is captured does not run; what came before has its event.
            adopt::event_handle(&self.owned.before_capture)
        } else {
            let event = adopt::event_handle(&self.owned.handover);
            // SAFETY: `self` owns the event and the stream, which are destroyed with it alone.
            let record = || unsafe { call!(cuEventRecord(event, self.raw())) };
            match self.role {
                // Its handle means that of the current context.
                StreamRole::Legacy => self.context.while_bound(record)?,
                StreamRole::Blocking | StreamRole::NonBlocking => record()?,
            }
            event
        };
        // SAFETY: `self` owns the event; `StreamRef` says that the stream is alive.
        unsafe { call!(cuStreamWaitEvent(follower.raw(), event, 0)) }
    }

    /// Makes later work here follow what `other` holds, both being in one capture.
    pub(crate) fn follow_captured(
        &self,
        _guard: &OrderGuard<'_>,
        other: &StreamHandle,
    ) -> Result<()> {
        let event = adopt::event_handle(&other.owned.handover);
        // SAFETY: `other` owns the event and its stream.
        unsafe { call!(cuEventRecord(event, other.raw())) }?;
        // SAFETY: `other` owns the event, `self` the stream.
        unsafe { call!(cuStreamWaitEvent(self.raw(), event, 0)) }
    }

    /// Whether everything that was really enqueued here is done.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    pub(crate) fn past_is_done(&self, _guard: &OrderGuard<'_>) -> Result<bool> {
        self.context.bind()?;
        if self.is_captured_by_its_library()? {
            // To ask would break the capture.
            return Ok(false);
        }
        let answer = if self.is_captured() {
            // SAFETY: `self` owns the event, which its `drop` alone destroys.
            unsafe {
                call!(cuEventQuery(adopt::event_handle(
                    &self.owned.before_capture
                )))
            }
        } else {
            // SAFETY: `self` owns the stream, which is destroyed with it alone.
            unsafe { call!(cuStreamQuery(self.raw())) }
        };
        match answer {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether it is another library's, which captures it: this crate has no `Stream` of it any more, nor memory that was used in it.
    fn is_captured_by_its_library(&self) -> Result<bool> {
        if !matches!(self.owned.stream, Owner::Library(_)) || self.is_captured() {
            return Ok(false);
        }
        let mut status = raw::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the driver writes one value to `status`, which outlives the call; the stream exists as long as its keeper.
        unsafe { call!(cuStreamIsCapturing(self.raw(), &mut status)) }?;
        Ok(status != raw::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// An event for everything enqueued here so far, of which `reach` matters to those who follow it; `None` if that is done.
    pub(crate) fn record_position(
        &self,
        guard: &OrderGuard<'_>,
        reach: Reach,
    ) -> Result<Option<Arc<RecordedEvent>>> {
        if self.past_is_done(guard)? {
            return Ok(None);
        }
        self.record_end(guard, reach).map(Some)
    }

    /// As [`record_position`](Self::record_position), whether or not that is done.
    pub(crate) fn record_end(
        &self,
        guard: &OrderGuard<'_>,
        reach: Reach,
    ) -> Result<Arc<RecordedEvent>> {
        let stream = if self.is_captured() {
            // Recording here would become part of the graph.
            let follower = self.context.follower_stream()?;
            self.hold_back(guard, follower)?;
            follower
        } else {
            self.stream_ref()
        };
        RecordedEvent::record(&self.context, stream, reach)
    }
}

/// The error of a call that cannot be recorded: `why` not, and what can be `instead`.
#[cold]
fn captured(call: &'static str, why: &str, instead: &str) -> Error {
    Error::misuse(
        call,
        Code::STREAM_CAPTURE_UNSUPPORTED,
        format!("the stream is being captured: {why}"),
        instead,
    )
}

impl Drop for StreamHandle {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the field, and `drop` runs once. The driver finishes what is enqueued.
        let Owned {
            stream,
            handover,
            before_capture,
        } = unsafe { ManuallyDrop::take(&mut self.owned) };
        let context = self.context.clone();
        self.context.destroy(move || {
            let stream = match stream {
                Owner::Handle(stream) => {
                    destroyed("cuStreamDestroy", cust::stream::Stream::drop(stream))
                }
                Owner::Driver => Ok(()),
                Owner::Library(keeper) => keeper.give_up(&context),
            };
            let handover = destroyed("cuEventDestroy", cust::event::Event::drop(handover));
            let before = destroyed("cuEventDestroy", cust::event::Event::drop(before_capture));
            stream.and(handover).and(before)
        });
    }
}
