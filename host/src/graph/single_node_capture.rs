//! Nodes that the driver makes by capture only.

use warpsmith_driver::raw;

use crate::driver_call::call;
use crate::error::Result;

/// Adds the one node that `enqueue` makes in a captured stream.
pub(super) fn capture_one_node(
    node: *mut raw::CUgraphNode,
    graph: raw::CUgraph,
    before: *const raw::CUgraphNode,
    count: usize,
    enqueue: impl FnOnce(raw::CUstream) -> Result<()>,
) -> Result<()> {
    let relaxed = raw::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    let flags = raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0;
    let mut stream = std::ptr::null_mut();
    // SAFETY: the result outlives the call.
    unsafe { call!(cuStreamCreate(&mut stream, flags)) }?;
    // SAFETY: graph, dependencies and stream are alive; no dependency has edge data.
    let begun = unsafe {
        call!(cuStreamBeginCaptureToGraph(
            stream,
            graph,
            before,
            std::ptr::null(),
            count,
            relaxed
        ))
    };
    let recorded = begun.and_then(|()| {
        let enqueued = enqueue(stream);
        let mut status = raw::CUstreamCaptureStatus(0);
        let (mut number, mut frontier, mut length) = (0, std::ptr::null(), 0);
        let (mut same, mut data) = (std::ptr::null_mut(), std::ptr::null());
        // SAFETY: all results outlive the call.
        let asked = unsafe {
            call!(cuStreamGetCaptureInfo_v3(
                stream,
                &mut status,
                &mut number,
                &mut same,
                &mut frontier,
                &mut data,
                &mut length
            ))
        };
        if enqueued.is_ok() && asked.is_ok() && length > 0 {
            // SAFETY: the frontier holds `length` nodes until the next call on the stream; `node` is the caller's.
            unsafe { *node = *frontier };
        }
        // SAFETY: the stream is captured; the graph that comes back is the one that went in.
        let ended = unsafe { call!(cuStreamEndCapture(stream, &mut same)) };
        enqueued.and(asked).and(ended)
    });
    // SAFETY: made above.
    let destroyed = unsafe { call!(cuStreamDestroy_v2(stream)) };
    recorded.and(destroyed)
}
