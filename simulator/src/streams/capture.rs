//! Captures as streams and events see them: which streams take part, where each stands in the graph, and what is forbidden meanwhile.
//! The graph itself belongs to a floor above (`graph::capture`).
//!
//! A capture begins on one stream and draws in others through events. What is forbidden meanwhile does not only fail: it invalidates the
//! capture, so that each later use of its streams answers 901 until the capture is ended on the stream that it began on.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

use crate::error::{Result, code};
use crate::sync::lock;
use warpsmith_abi::{CUgraphEdgeData, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus};

/// A node that the next captured item depends on, with the data of the edge.
#[derive(Clone, Copy)]
pub(crate) struct Dependency {
    /// The node's handle.
    pub(crate) node: usize,
    pub(crate) edge: CUgraphEdgeData,
}

/// The nodes that the next captured item depends on.
pub(crate) type Frontier = Vec<Dependency>;

/// One capture.
pub(crate) struct CaptureSession {
    pub(crate) id: u64,
    context: u64,
    /// The stream it began on.
    origin: Weak<CaptureSlot>,
    thread: ThreadId,
    mode: CUstreamCaptureMode,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    invalid: bool,
    ended: bool,
    /// The streams that take part.
    streams: Vec<Weak<CaptureSlot>>,
}

/// A stream's part in a capture.
struct Participation {
    session: Arc<CaptureSession>,
    frontier: Frontier,
}

/// What a stream keeps for captures.
pub(crate) struct CaptureSlot {
    context: u64,
    is_legacy: bool,
    /// Whether the stream and the legacy stream wait for each other.
    is_blocking: bool,
    part: Mutex<Option<Participation>>,
}

/// An event recorded in a captured stream: a set of nodes.
#[derive(Clone)]
pub(crate) struct CapturedEvent {
    session: Arc<CaptureSession>,
    frontier: Frontier,
}

/// What a stream answers about its capture.
pub(crate) struct CaptureInformation {
    pub(crate) status: CUstreamCaptureStatus,
    /// The capture; `None` if the stream takes part in none.
    pub(crate) session: Option<Arc<CaptureSession>>,
    pub(crate) frontier: Frontier,
}

/// What is left of a capture that has ended.
pub(crate) struct EndedCapture {
    pub(crate) session: Arc<CaptureSession>,
    pub(crate) is_invalid: bool,
    /// Where the stream on which the capture began stands at the end.
    pub(crate) frontier: Frontier,
    /// Where the other streams stand; all of it must come before `frontier`.
    pub(crate) other_frontiers: Vec<Frontier>,
}

/// All captures that have not ended.
static OPEN: Mutex<Vec<Weak<CaptureSession>>> = Mutex::new(Vec::new());
/// Their number, so that calls outside of any capture cost nothing.
static OPEN_COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MODE: Cell<CUstreamCaptureMode> = const { Cell::new(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL) };
}

fn open_captures() -> Vec<Arc<CaptureSession>> {
    if OPEN_COUNT.load(Ordering::Acquire) == 0 {
        return Vec::new();
    }
    lock(&OPEN).iter().filter_map(Weak::upgrade).collect()
}

/// Invalidates the open captures that forbid a call, and refuses the call with `error` if there is one.
fn refuse_within(error: CUresult, forbids: impl Fn(&CaptureSession) -> bool) -> Result {
    let mut refused = false;
    for session in open_captures() {
        if forbids(&session) {
            session.invalidate();
            refused = true;
        }
    }
    if refused { Err(error) } else { Ok(()) }
}

impl CaptureSession {
    /// Lets every later use of the capture fail.
    pub(crate) fn invalidate(&self) {
        lock(&self.state).invalid = true;
    }

    fn is_invalid(&self) -> bool {
        lock(&self.state).invalid
    }

    /// Whether some stream of the capture waits for the legacy stream and it for them.
    fn has_blocking_stream(&self) -> bool {
        lock(&self.state)
            .streams
            .iter()
            .filter_map(Weak::upgrade)
            .any(|stream| stream.is_blocking)
    }
}

impl CapturedEvent {
    /// The error of a use of the event as if it had been recorded in a stream that executes; the capture is invalid from now on.
    pub(crate) fn refuse_use(&self) -> CUresult {
        self.session.invalidate();
        code::CAPTURED_EVENT
    }
}

impl CaptureSlot {
    /// The slot of a stream that takes part in no capture.
    pub(crate) fn new(context: u64, is_legacy: bool, is_blocking: bool) -> Arc<Self> {
        Arc::new(Self {
            context,
            is_legacy,
            is_blocking,
            part: Mutex::new(None),
        })
    }

    /// Begins a capture on the stream. Its first item depends on `frontier`. `prepare` is called before anything can be captured.
    pub(crate) fn begin(
        self: &Arc<Self>,
        mode: CUstreamCaptureMode,
        frontier: Frontier,
        prepare: impl FnOnce(&Arc<CaptureSession>),
    ) -> Result {
        if mode.0 > CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED.0 {
            return Err(code::INVALID_VALUE);
        }
        if self.is_legacy {
            return Err(code::STREAM_CAPTURE_UNSUPPORTED);
        }
        let mut part = lock(&self.part);
        if part.is_some() {
            return Err(code::ILLEGAL_STATE);
        }
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let session = Arc::new(CaptureSession {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            context: self.context,
            origin: Arc::downgrade(self),
            thread: std::thread::current().id(),
            mode,
            state: Mutex::new(SessionState {
                streams: vec![Arc::downgrade(self)],
                ..SessionState::default()
            }),
        });
        let mut open = lock(&OPEN);
        open.retain(|session| session.strong_count() > 0);
        open.push(Arc::downgrade(&session));
        OPEN_COUNT.store(open.len(), Ordering::Release);
        drop(open);
        prepare(&session);
        *part = Some(Participation { session, frontier });
        Ok(())
    }

    /// Ends the capture that began on this stream, for all streams that take part.
    pub(crate) fn end(self: &Arc<Self>) -> Result<EndedCapture> {
        let session = match lock(&self.part).as_ref() {
            Some(part) => Arc::clone(&part.session),
            None => return Err(code::ILLEGAL_STATE),
        };
        if session.origin.as_ptr() != Arc::as_ptr(self) {
            session.invalidate();
            return Err(code::STREAM_CAPTURE_UNMATCHED);
        }
        let relaxed = session.mode == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        if !relaxed && session.thread != std::thread::current().id() {
            return Err(code::STREAM_CAPTURE_WRONG_THREAD);
        }
        let frontier = lock(&self.part)
            .take()
            .map(|part| part.frontier)
            .unwrap_or_default();
        let (is_invalid, streams) = {
            let mut state = lock(&session.state);
            state.ended = true;
            (state.invalid, std::mem::take(&mut state.streams))
        };
        let other_frontiers = streams
            .iter()
            .filter_map(Weak::upgrade)
            .filter_map(|other| {
                lock(&other.part).take_if(|part| Arc::ptr_eq(&part.session, &session))
            })
            .map(|part| part.frontier)
            .collect();
        {
            let mut open = lock(&OPEN);
            open.retain(|other| {
                other.strong_count() > 0 && other.as_ptr() != Arc::as_ptr(&session)
            });
            OPEN_COUNT.store(open.len(), Ordering::Release);
        }
        Ok(EndedCapture {
            session,
            is_invalid,
            frontier,
            other_frontiers,
        })
    }

    /// If the stream is being captured, lets `add` make a node that depends on what was captured before, and continues after it.
    /// `false` if the stream is not being captured.
    pub(crate) fn append(
        &self,
        add: impl FnOnce(&CaptureSession, &[Dependency]) -> Result<Dependency>,
    ) -> Result<bool> {
        let mut part = lock(&self.part);
        let Some(part) = part.as_mut() else {
            return Ok(false);
        };
        if part.session.is_invalid() {
            return Err(code::STREAM_CAPTURE_INVALIDATED);
        }
        match add(&part.session, &part.frontier) {
            Ok(node) => part.frontier = vec![node],
            Err(error) => {
                part.session.invalidate();
                return Err(error);
            }
        }
        Ok(true)
    }

    /// Whether the stream takes part in a capture.
    pub(crate) fn is_capturing(&self) -> bool {
        lock(&self.part).is_some()
    }

    /// The check of a call that is never allowed on a captured stream: it invalidates the capture.
    pub(crate) fn refuse_if_capturing(&self) -> Result {
        match lock(&self.part).as_ref() {
            None => Ok(()),
            Some(part) if part.session.is_invalid() => Err(code::STREAM_CAPTURE_INVALIDATED),
            Some(part) => {
                part.session.invalidate();
                Err(code::STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// The legacy stream may not be used while a blocking stream of its context is being captured.
    pub(crate) fn refuse_implicit_dependency(&self) -> Result {
        if !self.is_legacy {
            return Ok(());
        }
        refuse_within(code::STREAM_CAPTURE_IMPLICIT, |session| {
            session.context == self.context && session.has_blocking_stream()
        })
    }

    /// A call that waits for a stream is allowed neither on a captured stream nor on the legacy stream while a blocking one is captured.
    pub(crate) fn refuse_synchronisation(&self) -> Result {
        self.refuse_if_capturing()?;
        self.refuse_implicit_dependency()
    }

    /// What an event that is recorded in the stream stands for; `None` if the stream is not being captured.
    pub(crate) fn captured_event(&self) -> Result<Option<CapturedEvent>> {
        match lock(&self.part).as_ref() {
            None => Ok(None),
            Some(part) if part.session.is_invalid() => Err(code::STREAM_CAPTURE_INVALIDATED),
            Some(part) => Ok(Some(CapturedEvent {
                session: Arc::clone(&part.session),
                frontier: part.frontier.clone(),
            })),
        }
    }

    /// Lets the stream wait for an event as far as captures are concerned: joins the stream into the event's capture or adds
    /// dependencies. `event` is `None` for an event that was not recorded in a captured stream. `false` where neither the stream nor the
    /// event is captured.
    pub(crate) fn wait_for(self: &Arc<Self>, event: Option<CapturedEvent>) -> Result<bool> {
        let mut slot = lock(&self.part);
        match (slot.as_mut(), event) {
            (None, None) => Ok(false),
            (None, Some(event)) => {
                let mut state = lock(&event.session.state);
                if state.ended {
                    return Err(code::CAPTURED_EVENT);
                }
                if state.invalid {
                    return Err(code::STREAM_CAPTURE_INVALIDATED);
                }
                if self.is_legacy {
                    state.invalid = true;
                    return Err(code::STREAM_CAPTURE_IMPLICIT);
                }
                state.streams.push(Arc::downgrade(self));
                drop(state);
                *slot = Some(Participation {
                    session: event.session,
                    frontier: event.frontier,
                });
                Ok(true)
            }
            (Some(part), _) if part.session.is_invalid() => Err(code::STREAM_CAPTURE_INVALIDATED),
            (Some(part), Some(event)) if Arc::ptr_eq(&part.session, &event.session) => {
                add_dependencies(&mut part.frontier, &event.frontier);
                Ok(true)
            }
            (Some(part), Some(event)) => {
                part.session.invalidate();
                event.session.invalidate();
                Err(code::STREAM_CAPTURE_MERGE)
            }
            (Some(part), None) => {
                part.session.invalidate();
                Err(code::STREAM_CAPTURE_ISOLATION)
            }
        }
    }

    /// The state of the stream's capture. Asking about the legacy stream while a blocking one is captured is refused, without harm.
    pub(crate) fn information(&self) -> Result<CaptureInformation> {
        if self.is_legacy {
            let blocked = |session: &Arc<CaptureSession>| {
                session.context == self.context && session.has_blocking_stream()
            };
            if open_captures().iter().any(blocked) {
                return Err(code::STREAM_CAPTURE_IMPLICIT);
            }
        }
        Ok(match lock(&self.part).as_ref() {
            None => CaptureInformation {
                status: CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
                session: None,
                frontier: Vec::new(),
            },
            Some(part) => CaptureInformation {
                status: if part.session.is_invalid() {
                    CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED
                } else {
                    CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE
                },
                session: Some(Arc::clone(&part.session)),
                frontier: part.frontier.clone(),
            },
        })
    }

    /// Adds to the stream's dependencies, or replaces them, if `check` has nothing against it.
    pub(crate) fn update_dependencies(
        &self,
        dependencies: &[Dependency],
        update: DependencyUpdate,
        check: impl FnOnce(&CaptureSession) -> Result,
    ) -> Result {
        let mut slot = lock(&self.part);
        let part = slot.as_mut().ok_or(code::ILLEGAL_STATE)?;
        if part.session.is_invalid() {
            return Err(code::STREAM_CAPTURE_INVALIDATED);
        }
        check(&part.session)?;
        if update == DependencyUpdate::Replace {
            part.frontier.clear();
        }
        add_dependencies(&mut part.frontier, dependencies);
        Ok(())
    }
}

/// How `cuStreamUpdateCaptureDependencies` changes a stream's dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DependencyUpdate {
    /// The given ones are added.
    Add,
    /// Only the given ones are left.
    Replace,
}

fn add_dependencies(frontier: &mut Frontier, more: &[Dependency]) {
    for dependency in more {
        if !frontier.iter().any(|known| known.node == dependency.node) {
            frontier.push(*dependency);
        }
    }
}

/// A call that waits for a whole context is not allowed while any of its streams is being captured.
pub(crate) fn refuse_waiting_for_context(context: u64) -> Result {
    refuse_within(code::STREAM_CAPTURE_UNSUPPORTED, |session| {
        session.context == context
    })
}

/// The check of a call such as an allocation, which may wait for the device without saying so ("potentially unsafe API calls"). The
/// modes of the open captures and of the calling thread decide whether it is refused.
pub(crate) fn refuse_unsafe_call() -> Result {
    if MODE.get() == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED {
        return Ok(());
    }
    refuse_within(code::STREAM_CAPTURE_UNSUPPORTED, |session| {
        match session.mode {
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED => false,
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL
                if MODE.get() == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL =>
            {
                true
            }
            _ => session.thread == std::thread::current().id(),
        }
    })
}

/// Changes how this thread's unsafe calls are judged; gives the mode before.
pub(crate) fn exchange_mode(mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode> {
    if mode.0 > CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED.0 {
        return Err(code::INVALID_VALUE);
    }
    Ok(MODE.replace(mode))
}
