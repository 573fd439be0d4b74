//! Events: a point in a stream that other streams and the host wait for, and its time.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::capture::CapturedEvent;
use crate::check::stream_order::Clock;
use crate::error::{Result, code};
use crate::memory::interprocess::{RecordingUnderWay, Recordings, SharedPoint};
use crate::registry::{ContextBound, Registry};
use crate::sync::lock;
use crate::work::{CompletionPoint, host};
use warpsmith_abi::CUevent_flags;

/// All events.
pub(crate) static EVENTS: Registry<Event> = Registry::new();

impl ContextBound for Event {
    fn context(&self) -> u64 {
        self.context
    }
}

/// What the points of this process come after that events stood for which several processes may have. Which of them a wait is for is not
/// known.
static SHARED: Mutex<Clock> = Mutex::new(Clock::new());

/// An event.
pub(crate) struct Event {
    pub(crate) handle: usize,
    pub(crate) context: u64,
    flags: u32,
    last: Mutex<Recording>,
    /// Its recordings, if other processes may have it; `last` is not used then.
    shared: Option<Arc<Recordings>>,
}

/// What an event was last recorded as.
#[derive(Clone, Default)]
pub(crate) enum Recording {
    /// Never recorded: complete, and nothing waits for it.
    #[default]
    Never,
    /// In a stream that executes.
    Recorded(EventPoint),
    /// By this or another process, of an event that several may have.
    Shared(SharedPoint),
    /// In a captured stream: a set of nodes.
    Captured(CapturedEvent),
}

/// A point in a stream, and when it was reached.
#[derive(Clone)]
pub(crate) struct EventPoint {
    pub(crate) point: CompletionPoint,
    /// Set before `point` is reached.
    pub(crate) time: Arc<OnceLock<Instant>>,
    /// What other processes see of it.
    shared: Arc<Mutex<Option<RecordingUnderWay>>>,
}

impl EventPoint {
    /// A point that is reached when [`EventPoint::complete`] is called.
    pub(crate) fn pending() -> Self {
        Self {
            point: CompletionPoint::pending(),
            time: Arc::default(),
            shared: Arc::default(),
        }
    }

    /// A point in a queue, whose time is set before it is reached.
    pub(crate) fn reached_at(point: CompletionPoint, time: Arc<OnceLock<Instant>>) -> Self {
        Self {
            point,
            time,
            shared: Arc::default(),
        }
    }

    /// Completes a point made by [`EventPoint::pending`], now.
    pub(crate) fn complete(&self) {
        let _ = self.time.set(Instant::now());
        drop(lock(&self.shared).take());
        self.point.complete();
    }
}

impl Recording {
    /// Lets work wait until it is reached, or, where another process has made it, until `stop` says so.
    pub(crate) fn wait(&self, stop: impl Fn() -> bool) {
        match self {
            Recording::Recorded(recorded) => recorded.point.block(),
            Recording::Shared(point) => point.wait(stop),
            Recording::Never | Recording::Captured(_) => {}
        }
    }

    /// Adds it, and what comes before it, to what a point comes after that waits for it.
    pub(crate) fn enter(&self, clock: &mut Clock) {
        match self {
            Recording::Recorded(recorded) => recorded.point.enter(clock),
            Recording::Shared(_) => clock.join(&lock(&SHARED)),
            Recording::Never | Recording::Captured(_) => {}
        }
    }
}

impl Event {
    pub(crate) fn new(handle: usize, context: u64, flags: u32) -> Self {
        Self {
            handle,
            context,
            flags,
            last: Mutex::default(),
            shared: None,
        }
    }

    /// An event whose recordings other processes see.
    pub(crate) fn shared(
        handle: usize,
        context: u64,
        flags: u32,
        recordings: Arc<Recordings>,
    ) -> Self {
        Self {
            shared: Some(recordings),
            ..Self::new(handle, context, flags)
        }
    }

    /// The handle by which another process opens the event.
    ///
    /// # Errors
    ///
    /// Invalid handle if it was not made for that, or is another process's.
    pub(crate) fn export(&self) -> Result<[u8; 64]> {
        let recordings = self.shared.as_ref().ok_or(code::INVALID_HANDLE)?;
        recordings.export()
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.flags & CUevent_flags::CU_EVENT_DISABLE_TIMING.0 == 0
    }

    pub(crate) fn is_interprocess(&self) -> bool {
        self.flags & CUevent_flags::CU_EVENT_INTERPROCESS.0 != 0
    }

    pub(crate) fn recording(&self) -> Recording {
        match &self.shared {
            Some(shared) => shared.last().map_or(Recording::Never, Recording::Shared),
            None => lock(&self.last).clone(),
        }
    }

    pub(crate) fn record(&self, recording: Recording) {
        if self.shared.is_some() {
            recording.enter(&mut lock(&SHARED));
        }
        *lock(&self.last) = recording;
    }

    /// Records the event as a point that [`EventPoint::complete`] completes.
    pub(crate) fn promise(&self) -> EventPoint {
        let point = EventPoint {
            shared: Arc::new(Mutex::new(self.begin_shared())),
            ..EventPoint::pending()
        };
        self.record(Recording::Recorded(point.clone()));
        point
    }

    /// Begins a recording that other processes see, if they may have the event. It is reached when it is dropped.
    pub(crate) fn begin_shared(&self) -> Option<RecordingUnderWay> {
        self.shared.as_ref().map(Recordings::begin)
    }

    /// Whether the recorded point has been reached.
    pub(crate) fn query(&self) -> Result<bool> {
        let recording = self.recording();
        let is_reached = match &recording {
            Recording::Never => true,
            Recording::Recorded(recorded) => recorded.point.is_reached(),
            Recording::Shared(point) => point.is_reached(),
            Recording::Captured(captured) => return Err(captured.refuse_use()),
        };
        if is_reached {
            host::learn(|clock| recording.enter(clock));
        }
        Ok(is_reached)
    }

    pub(crate) fn synchronize(&self) -> Result {
        match self.recording() {
            Recording::Captured(captured) => Err(captured.refuse_use()),
            recording => {
                recording.wait(|| false);
                host::learn(|clock| recording.enter(clock));
                Ok(())
            }
        }
    }

    /// Milliseconds from `start` to this event.
    pub(crate) fn elapsed_since(&self, start: &Event) -> Result<f32> {
        if !self.is_timed() || !start.is_timed() {
            return Err(code::INVALID_HANDLE);
        }
        let time = |event: &Event| match event.recording() {
            Recording::Never | Recording::Shared(_) => Err(code::INVALID_HANDLE),
            Recording::Recorded(recorded) if recorded.point.is_reached() => {
                recorded.time.get().copied().ok_or(code::INVALID_HANDLE)
            }
            Recording::Recorded(_) => Err(code::NOT_READY),
            Recording::Captured(captured) => Err(captured.refuse_use()),
        };
        let (from, to) = (time(start)?, time(self)?);
        Ok(match to.checked_duration_since(from) {
            Some(forward) => forward.as_secs_f32() * 1e3,
            None => from.duration_since(to).as_secs_f32() * -1e3,
        })
    }
}
