//! Making nodes: what is asked of the driver, and the nodes that it makes by capture only.

use warpsmith_driver::raw;

use crate::driver_call::stream_ref::StreamRef;
use crate::driver_call::{call, failed};
use crate::error::{Code, Result};

/// A node that is to be made.
pub(super) struct NewNode<'a> {
    /// Receives the driver's handle.
    pub(super) node: &'a mut raw::CUgraphNode,
    /// The graph, which is alive.
    pub(super) graph: raw::CUgraph,
    /// Nodes of this graph that it follows.
    pub(super) before: &'a [raw::CUgraphNode],
}

/// Adds the one node that `enqueue` makes in a captured stream.
pub(super) fn capture_one_node(
    new: NewNode<'_>,
    enqueue: impl FnOnce(StreamRef<'_>) -> Result<()>,
) -> Result<()> {
    let flags = raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0;
    let mut stream = std::ptr::null_mut();
    // SAFETY: the driver writes one handle to `stream`, which outlives the call.
    unsafe { call!(cuStreamCreate(&mut stream, flags)) }?;
    // SAFETY: the stream was made above, and is destroyed at the end of this function.
    let recorded = record(new, unsafe { StreamRef::new(stream) }, enqueue);
    // SAFETY: the stream was made above, and `record` has ended its use.
    let destroyed = unsafe { call!(cuStreamDestroy_v2(stream)) };
    recorded.and(destroyed)
}

fn record(
    new: NewNode<'_>,
    stream: StreamRef<'_>,
    enqueue: impl FnOnce(StreamRef<'_>) -> Result<()>,
) -> Result<()> {
    // SAFETY: `new` says that graph and nodes are alive, `stream` that the stream is; a null pointer means no edge data.
    unsafe {
        call!(cuStreamBeginCaptureToGraph(
            stream.raw(),
            new.graph,
            new.before.as_ptr(),
            std::ptr::null(),
            new.before.len(),
            raw::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
        ))
    }?;
    let enqueued = enqueue(stream);
    let asked = last_captured_node(stream);
    if enqueued.is_ok()
        && let Ok(node) = asked
    {
        *new.node = node;
    }
    let mut same = std::ptr::null_mut();
    // SAFETY: `stream` says that the stream is alive; the graph that comes back is the one that went in.
    let ended = unsafe { call!(cuStreamEndCapture(stream.raw(), &mut same)) };
    enqueued.and(asked.map(drop)).and(ended)
}

/// The node of what was enqueued last in a captured stream.
pub(super) fn last_captured_node(stream: StreamRef<'_>) -> Result<raw::CUgraphNode> {
    let last = capture_position(stream)?.after.first().copied();
    last.ok_or_else(|| failed(INFORMATION, Code::STREAM_CAPTURE_INVALIDATED))
}

/// Where a captured stream stands.
pub(super) struct CapturePosition {
    /// The graph, which the capture makes and the driver owns until its end.
    pub(super) graph: raw::CUgraph,
    /// The nodes that the next one comes after.
    pub(super) after: Vec<raw::CUgraphNode>,
}

const INFORMATION: &str = "cuStreamGetCaptureInfo";

/// # Errors
///
/// The stream is not being captured, or the capture is broken.
pub(super) fn capture_position(stream: StreamRef<'_>) -> Result<CapturePosition> {
    let mut status = raw::CUstreamCaptureStatus(0);
    let (mut number, mut graph) = (0, std::ptr::null_mut());
    let (mut frontier, mut data, mut length) = (std::ptr::null(), std::ptr::null(), 0);
    // SAFETY: the driver writes to the variables declared above, which outlive the call; `stream` says that the stream is alive.
    unsafe {
        call!(cuStreamGetCaptureInfo_v3(
            stream.raw(),
            &mut status,
            &mut number,
            &mut graph,
            &mut frontier,
            &mut data,
            &mut length
        ))
    }?;
    if status != raw::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE {
        return Err(failed(INFORMATION, Code::STREAM_CAPTURE_INVALIDATED));
    }
    let after = match length {
        0 => Vec::new(),
        // SAFETY: the driver said that `frontier` has `length` nodes, and keeps them until the next call on the stream.
        _ => unsafe { std::slice::from_raw_parts(frontier, length) }.to_vec(),
    };
    Ok(CapturePosition { graph, after })
}
