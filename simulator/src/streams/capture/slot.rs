//! A stream's part in a capture.

use std::sync::{Arc, Mutex};

use super::frontier::{Dependency, DependencyUpdate, Frontier, add_dependencies};
use super::rules::{forbids_legacy_stream, refuse_legacy_stream};
use super::session::{CaptureSession, Participant, SessionEnd};
use crate::error::{Result, code};
use crate::sync::lock;
use warpsmith_abi::{CUgraphEdgeData, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus};

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

impl Participant for CaptureSlot {
    fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    fn is_blocking(&self) -> bool {
        self.is_blocking
    }

    fn context(&self) -> u64 {
        self.context
    }

    fn leave(&self, session: &Arc<CaptureSession>) -> Option<Frontier> {
        lock(&self.part)
            .take_if(|part| Arc::ptr_eq(&part.session, session))
            .map(|part| part.frontier)
    }
}

impl CapturedEvent {
    /// The same nodes; what waits for the event depends on them by edges of this kind.
    pub(crate) fn with_edge(mut self, edge: CUgraphEdgeData) -> Self {
        for dependency in &mut self.frontier {
            dependency.edge = edge;
        }
        self
    }

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
        let stream = Arc::downgrade(self);
        let session = CaptureSession::open(mode, stream);
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
        if !session.began_on(Arc::as_ptr(self)) {
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
        let SessionEnd {
            is_invalid,
            frontiers: other_frontiers,
        } = session.close();
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

    /// The stream is being destroyed. A capture that began on it can never be ended; one that it was drawn into goes on without it.
    pub(crate) fn depart(&self) {
        match lock(&self.part).take() {
            Some(part) if part.session.began_on(self) => part.session.invalidate(),
            Some(part) => part.session.keep(part.frontier),
            None => {}
        }
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
        refuse_legacy_stream(self.context)
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
                event.session.join(self)?;
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
        if self.is_legacy && forbids_legacy_stream(self.context) {
            return Err(code::STREAM_CAPTURE_IMPLICIT);
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
