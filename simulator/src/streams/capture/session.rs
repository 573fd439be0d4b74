//! A capture from its begin to its end, and all that are open.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

use super::frontier::Frontier;
use crate::error::{Result, code};
use crate::sync::lock;
use warpsmith_abi::CUstreamCaptureMode;

/// A stream that takes part in a capture, as the capture sees it.
pub(super) trait Participant: Send + Sync {
    /// Whether it is the legacy stream, which no capture may draw in.
    fn is_legacy(&self) -> bool;

    /// Whether the stream and the legacy stream wait for each other.
    fn is_blocking(&self) -> bool;

    /// The stream's context.
    fn context(&self) -> u64;

    /// Takes the stream out of the capture; where it stood. `None` if it takes part no longer.
    fn leave(&self, session: &Arc<CaptureSession>) -> Option<Frontier>;
}

/// One capture.
pub(crate) struct CaptureSession {
    pub(crate) id: u64,
    /// The stream it began on.
    origin: Weak<dyn Participant>,
    pub(super) thread: ThreadId,
    pub(super) mode: CUstreamCaptureMode,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    invalid: bool,
    ended: bool,
    /// The streams that take part.
    streams: Vec<Weak<dyn Participant>>,
    /// Where streams stood that were destroyed meanwhile.
    departed: Vec<Frontier>,
}

/// What a capture leaves when it ends.
pub(super) struct SessionEnd {
    pub(super) is_invalid: bool,
    /// Where the other streams stand, or stood when they were destroyed.
    pub(super) frontiers: Vec<Frontier>,
}

/// All captures that have not ended.
static OPEN: Mutex<Vec<Weak<CaptureSession>>> = Mutex::new(Vec::new());
/// Their number, so that calls outside of any capture cost nothing.
static OPEN_COUNT: AtomicUsize = AtomicUsize::new(0);

/// The captures that have not ended.
pub(super) fn open_captures() -> Vec<Arc<CaptureSession>> {
    if OPEN_COUNT.load(Ordering::Acquire) == 0 {
        return Vec::new();
    }
    lock(&OPEN).iter().filter_map(Weak::upgrade).collect()
}

impl CaptureSession {
    /// A capture that begins on a stream, by a call on this thread.
    pub(super) fn open(mode: CUstreamCaptureMode, origin: Weak<dyn Participant>) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let session = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            origin: Weak::clone(&origin),
            thread: std::thread::current().id(),
            mode,
            state: Mutex::new(SessionState {
                streams: vec![origin],
                ..SessionState::default()
            }),
        });
        let mut open = lock(&OPEN);
        open.retain(|session| session.strong_count() > 0);
        open.push(Arc::downgrade(&session));
        OPEN_COUNT.store(open.len(), Ordering::Release);
        session
    }

    /// Whether the capture began on this stream.
    pub(super) fn began_on(&self, stream: *const impl Participant) -> bool {
        std::ptr::addr_eq(self.origin.as_ptr(), stream)
    }

    /// Draws in a stream that waits for an event of the capture.
    pub(super) fn join<P: Participant + 'static>(&self, stream: &Arc<P>) -> Result {
        let mut state = lock(&self.state);
        if state.ended {
            return Err(code::CAPTURED_EVENT);
        }
        if state.invalid {
            return Err(code::STREAM_CAPTURE_INVALIDATED);
        }
        if stream.is_legacy() {
            state.invalid = true;
            return Err(code::STREAM_CAPTURE_IMPLICIT);
        }
        let stream: Weak<P> = Arc::downgrade(stream);
        state.streams.push(stream);
        Ok(())
    }

    /// Ends the capture: its streams leave it.
    pub(super) fn close(self: &Arc<Self>) -> SessionEnd {
        let (is_invalid, streams, mut frontiers) = {
            let mut state = lock(&self.state);
            state.ended = true;
            let streams = std::mem::take(&mut state.streams);
            (state.invalid, streams, std::mem::take(&mut state.departed))
        };
        let taking_part = streams.iter().filter_map(Weak::upgrade);
        frontiers.extend(taking_part.filter_map(|stream| stream.leave(self)));
        let mut open = lock(&OPEN);
        open.retain(|other| other.strong_count() > 0 && other.as_ptr() != Arc::as_ptr(self));
        OPEN_COUNT.store(open.len(), Ordering::Release);
        SessionEnd {
            is_invalid,
            frontiers,
        }
    }

    /// Remembers where a stream stood that is destroyed.
    pub(super) fn keep(&self, frontier: Frontier) {
        lock(&self.state).departed.push(frontier);
    }

    /// Lets every later use of the capture fail.
    pub(crate) fn invalidate(&self) {
        lock(&self.state).invalid = true;
    }

    pub(super) fn is_invalid(&self) -> bool {
        lock(&self.state).invalid
    }

    /// Whether some stream of a context takes part of which `is_such` is true.
    pub(super) fn has_stream(&self, context: u64, is_such: fn(&dyn Participant) -> bool) -> bool {
        lock(&self.state)
            .streams
            .iter()
            .filter_map(Weak::upgrade)
            .any(|stream| stream.context() == context && is_such(&*stream))
    }
}
