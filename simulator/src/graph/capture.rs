//! Stream capture: what a capturing stream is given to do becomes nodes of a graph, and the many ways in which that can go wrong.
//!
//! A capture begins on one stream and draws in others through events. What is forbidden meanwhile does not only fail: it invalidates the
//! capture, so that each later use of its streams answers 901 until the capture is ended on the stream that it began on.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

use super::template::{Graph, PLAIN_EDGE};
use crate::abi::{CUgraphEdgeData, CUstreamCaptureMode, CUstreamCaptureStatus};
use crate::state::{Context, Result, code, lock, registries};
use crate::streams::{Event, Operation, Recording, Stream};

/// One capture.
pub(crate) struct Capture {
    pub(crate) id: u64,
    pub(crate) graph: Arc<Graph>,
    context: u64,
    /// The stream it began on.
    origin: Weak<Stream>,
    thread: ThreadId,
    mode: CUstreamCaptureMode,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    invalid: bool,
    ended: bool,
    /// The streams that take part.
    streams: Vec<Weak<Stream>>,
}

/// The next item's dependencies, with the data of their edges.
type Frontier = Vec<(usize, CUgraphEdgeData)>;

/// A stream's part in a capture.
pub(crate) struct StreamCapture {
    capture: Arc<Capture>,
    frontier: Frontier,
}

/// An event recorded in a capturing stream: a set of nodes.
#[derive(Clone)]
pub(crate) struct CapturedEvent {
    capture: Arc<Capture>,
    frontier: Frontier,
}

/// What `cuStreamGetCaptureInfo` tells.
pub(crate) struct Information {
    pub(crate) status: CUstreamCaptureStatus,
    pub(crate) id: u64,
    pub(crate) graph: usize,
    pub(crate) frontier: Frontier,
}

/// All captures that have not ended.
static OPEN: Mutex<Vec<Weak<Capture>>> = Mutex::new(Vec::new());
/// Their number, so that calls outside of any capture cost nothing.
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MODE: Cell<CUstreamCaptureMode> = const { Cell::new(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL) };
}

impl Capture {
    fn invalidate(&self) {
        lock(&self.state).invalid = true;
    }

    fn is_invalid(&self) -> bool {
        lock(&self.state).invalid
    }
}

impl CapturedEvent {
    /// The event was used as if it had been recorded for real.
    pub(crate) fn misused(&self) -> crate::abi::CUresult {
        self.capture.invalidate();
        code::CAPTURED_EVENT
    }
}

fn open_captures() -> Vec<Arc<Capture>> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return Vec::new();
    }
    lock(&OPEN).iter().filter_map(Weak::upgrade).collect()
}

/// Begins a capture, into a fresh graph or, after given nodes, into an existing one.
pub(crate) fn begin(
    stream: &Arc<Stream>,
    mode: CUstreamCaptureMode,
    into: Option<(Arc<Graph>, Frontier)>,
) -> Result {
    if mode.0 > CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED.0 {
        return Err(code::INVALID_VALUE);
    }
    if stream.is_legacy {
        return Err(code::STREAM_CAPTURE_UNSUPPORTED);
    }
    let mut slot = lock(&stream.capture);
    if slot.is_some() {
        return Err(code::ILLEGAL_STATE);
    }
    let (graph, frontier) = into.unwrap_or_else(|| (Graph::create(false), Vec::new()));
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let capture = Arc::new(Capture {
        id: NEXT.fetch_add(1, Ordering::Relaxed) as u64,
        graph,
        context: stream.context_id,
        origin: Arc::downgrade(stream),
        thread: std::thread::current().id(),
        mode,
        state: Mutex::new(State {
            streams: vec![Arc::downgrade(stream)],
            ..State::default()
        }),
    });
    let mut open = lock(&OPEN);
    open.retain(|capture| capture.strong_count() > 0);
    open.push(Arc::downgrade(&capture));
    COUNT.store(open.len(), Ordering::Release);
    *slot = Some(StreamCapture { capture, frontier });
    Ok(())
}

/// Ends the capture that began on this stream and gives its graph.
pub(crate) fn end(stream: &Arc<Stream>) -> Result<Arc<Graph>> {
    let capture = match lock(&stream.capture).as_ref() {
        Some(part) => Arc::clone(&part.capture),
        None => return Err(code::ILLEGAL_STATE),
    };
    if capture.origin.as_ptr() != Arc::as_ptr(stream) {
        capture.invalidate();
        return Err(code::STREAM_CAPTURE_UNMATCHED);
    }
    let relaxed = capture.mode == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    if !relaxed && capture.thread != std::thread::current().id() {
        return Err(code::STREAM_CAPTURE_WRONG_THREAD);
    }
    let end: Frontier = lock(&stream.capture)
        .take()
        .map(|part| part.frontier)
        .unwrap_or_default();
    let (invalid, streams) = {
        let mut state = lock(&capture.state);
        state.ended = true;
        (state.invalid, std::mem::take(&mut state.streams))
    };
    let mut joined = true;
    for other in streams.iter().filter_map(Weak::upgrade) {
        let Some(part) = lock(&other.capture).take_if(|part| Arc::ptr_eq(&part.capture, &capture))
        else {
            continue;
        };
        joined &= part.frontier.iter().all(|&(node, _)| {
            end.iter()
                .any(|&(last, _)| capture.graph.is_before(node, last))
        });
    }
    {
        let mut open = lock(&OPEN);
        open.retain(|other| other.strong_count() > 0 && other.as_ptr() != Arc::as_ptr(&capture));
        COUNT.store(open.len(), Ordering::Release);
    }
    let dangling = end.iter().any(|(_, data)| data.type_ != 0);
    if invalid {
        Err(code::STREAM_CAPTURE_INVALIDATED)
    } else if !joined || dangling {
        Err(code::STREAM_CAPTURE_UNJOINED)
    } else {
        Ok(Arc::clone(&capture.graph))
    }
}

/// If the stream is capturing, appends the operation to its graph.
pub(crate) fn append_if_capturing(stream: &Stream, operation: &Operation) -> Result<bool> {
    let mut slot = lock(&stream.capture);
    let Some(part) = slot.as_mut() else {
        return Ok(false);
    };
    if part.capture.is_invalid() {
        return Err(code::STREAM_CAPTURE_INVALIDATED);
    }
    match part.capture.graph.add(&part.frontier, operation.clone()) {
        Ok(node) => part.frontier = vec![(node.handle, PLAIN_EDGE)],
        Err(error) => {
            part.capture.invalidate();
            return Err(error);
        }
    }
    Ok(true)
}

/// Whether the stream takes part in a capture.
pub(crate) fn is_capturing(stream: &Stream) -> bool {
    lock(&stream.capture).is_some()
}

/// A call that is never allowed on a capturing stream: it invalidates the capture.
pub(crate) fn unsupported_while_capturing(stream: &Stream) -> Result {
    match lock(&stream.capture).as_ref() {
        None => Ok(()),
        Some(part) if part.capture.is_invalid() => Err(code::STREAM_CAPTURE_INVALIDATED),
        Some(part) => {
            part.capture.invalidate();
            Err(code::STREAM_CAPTURE_UNSUPPORTED)
        }
    }
}

/// Whether some stream of a capture waits for the legacy stream and it for them.
fn has_blocking_stream(capture: &Capture) -> bool {
    lock(&capture.state)
        .streams
        .iter()
        .filter_map(Weak::upgrade)
        .any(|stream| stream.is_blocking())
}

/// The legacy stream may not be used while a blocking stream of its context is capturing.
pub(crate) fn refuse_implicit(stream: &Stream, context: &Context) -> Result {
    if !stream.is_legacy {
        return Ok(());
    }
    let mut refused = false;
    for capture in open_captures() {
        if capture.context == context.id() && has_blocking_stream(&capture) {
            capture.invalidate();
            refused = true;
        }
    }
    if refused {
        Err(code::STREAM_CAPTURE_IMPLICIT)
    } else {
        Ok(())
    }
}

/// A call that waits for a stream is allowed neither on a capturing stream nor, under the rule above, on the legacy one.
pub(crate) fn refuse_synchronous(stream: &Stream, context: &Context) -> Result {
    unsupported_while_capturing(stream)?;
    refuse_implicit(stream, context)
}

/// A call that waits for a whole context is not allowed while any of its streams is capturing.
pub(crate) fn refuse_waiting_for_context(context: &Context) -> Result {
    let mut refused = false;
    for capture in open_captures()
        .iter()
        .filter(|capture| capture.context == context.id())
    {
        capture.invalidate();
        refused = true;
    }
    if refused {
        Err(code::STREAM_CAPTURE_UNSUPPORTED)
    } else {
        Ok(())
    }
}

/// A call such as an allocation, which may wait for the device without saying so. Captures decide by their mode whether they bear it.
pub(crate) fn guard_unsafe_call() -> Result {
    let open = open_captures();
    if open.is_empty() || MODE.get() == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED {
        return Ok(());
    }
    let here = std::thread::current().id();
    let mut refused = false;
    for capture in open {
        let bothered = match capture.mode {
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED => false,
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL
                if MODE.get() == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL =>
            {
                true
            }
            _ => capture.thread == here,
        };
        if bothered {
            capture.invalidate();
            refused = true;
        }
    }
    if refused {
        Err(code::STREAM_CAPTURE_UNSUPPORTED)
    } else {
        Ok(())
    }
}

/// Changes how this thread's unsafe calls are looked at; gives the mode before.
pub(crate) fn exchange_mode(mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode> {
    if mode.0 > CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED.0 {
        return Err(code::INVALID_VALUE);
    }
    Ok(MODE.replace(mode))
}

/// Records an event. In a capturing stream it stands for the nodes so far, or, if `external`, becomes a node; `false` where the stream is
/// not capturing.
pub(crate) fn record_event(stream: &Stream, event: &Arc<Event>, external: bool) -> Result<bool> {
    if external {
        return append_if_capturing(stream, &Operation::EventRecord(Arc::clone(event)));
    }
    let slot = lock(&stream.capture);
    let Some(part) = slot.as_ref() else {
        return Ok(false);
    };
    if part.capture.is_invalid() {
        return Err(code::STREAM_CAPTURE_INVALIDATED);
    }
    let captured = CapturedEvent {
        capture: Arc::clone(&part.capture),
        frontier: part.frontier.clone(),
    };
    event.record(Recording::Captured(captured));
    Ok(true)
}

/// Waits for an event as far as captures are concerned: joins the stream into the event's capture, adds dependencies, or makes a node;
/// `false` where neither the stream nor the event is captured.
pub(crate) fn wait_event(stream: &Arc<Stream>, event: &Arc<Event>, external: bool) -> Result<bool> {
    if external && is_capturing(stream) {
        return append_if_capturing(stream, &Operation::EventWait(Arc::clone(event)));
    }
    let mut slot = lock(&stream.capture);
    match (slot.as_mut(), event.recording()) {
        (None, Recording::Captured(captured)) => {
            let mut state = lock(&captured.capture.state);
            if state.ended {
                return Err(code::CAPTURED_EVENT);
            }
            if state.invalid {
                return Err(code::STREAM_CAPTURE_INVALIDATED);
            }
            if stream.is_legacy {
                state.invalid = true;
                return Err(code::STREAM_CAPTURE_IMPLICIT);
            }
            state.streams.push(Arc::downgrade(stream));
            *slot = Some(StreamCapture {
                capture: Arc::clone(&captured.capture),
                frontier: captured.frontier.clone(),
            });
            Ok(true)
        }
        (None, _) => Ok(false),
        (Some(part), _) if part.capture.is_invalid() => Err(code::STREAM_CAPTURE_INVALIDATED),
        (Some(part), Recording::Captured(captured))
            if Arc::ptr_eq(&part.capture, &captured.capture) =>
        {
            for dependency in captured.frontier {
                if !part.frontier.iter().any(|(node, _)| *node == dependency.0) {
                    part.frontier.push(dependency);
                }
            }
            Ok(true)
        }
        (Some(part), Recording::Captured(captured)) => {
            part.capture.invalidate();
            captured.capture.invalidate();
            Err(code::STREAM_CAPTURE_MERGE)
        }
        (Some(part), _) => {
            part.capture.invalidate();
            Err(code::STREAM_CAPTURE_ISOLATION)
        }
    }
}

/// The state of a stream's capture. Asking about the legacy stream while a blocking one is capturing is refused, without harm.
pub(crate) fn information(stream: &Stream) -> Result<Information> {
    if stream.is_legacy {
        let blocked = |capture: &Arc<Capture>| {
            capture.context == stream.context_id && has_blocking_stream(capture)
        };
        if open_captures().iter().any(blocked) {
            return Err(code::STREAM_CAPTURE_IMPLICIT);
        }
    }
    Ok(match lock(&stream.capture).as_ref() {
        None => Information {
            status: CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
            id: 0,
            graph: 0,
            frontier: Vec::new(),
        },
        Some(part) => Information {
            status: if part.capture.is_invalid() {
                CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED
            } else {
                CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE
            },
            id: part.capture.id,
            graph: part.capture.graph.handle,
            frontier: part.frontier.clone(),
        },
    })
}

/// Adds to a capturing stream's dependencies, or replaces them.
pub(crate) fn update_frontier(
    stream: &Stream,
    dependencies: &[(usize, CUgraphEdgeData)],
    replace: bool,
) -> Result {
    let mut slot = lock(&stream.capture);
    let part = slot.as_mut().ok_or(code::ILLEGAL_STATE)?;
    if part.capture.is_invalid() {
        return Err(code::STREAM_CAPTURE_INVALIDATED);
    }
    for &(node, _) in dependencies {
        let node = registries()
            .nodes
            .get(node as *mut ())
            .map_err(|_| code::INVALID_VALUE)?;
        if node.graph != part.capture.graph.handle {
            return Err(code::INVALID_VALUE);
        }
    }
    if replace {
        part.frontier.clear();
    }
    for &dependency in dependencies {
        if !part.frontier.iter().any(|(node, _)| *node == dependency.0) {
            part.frontier.push(dependency);
        }
    }
    Ok(())
}
