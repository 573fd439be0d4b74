//! Streams: their life, attributes and memory operations, and their capture.

use super::nodes::{before, fresh};
use crate::common::*;
use crate::table::calls;
use crate::world::*;

unsafe extern "C" fn nothing_of_stream(_: CUstream, _: CUresult, _: *mut c_void) {}
const CALLBACK: CUstreamCallback = Some(nothing_of_stream);
const WRITE: u32 = 0;
const WAIT_FOR_GREATER_OR_EQUAL: u32 = 0;
const PRIORITY: CUstreamAttrID = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;

fn ended_capture(w: &World) -> CUstream {
    let stream = w.capturing();
    w.forget_stream(stream)
}

/// A node of a stream's capture, which begins with it.
fn captured(w: &World, stream: CUstream) -> CUgraphNode {
    ok!(cuMemsetD8Async(w.own.memory, 0, 1, stream));
    let (mut status, mut id, mut graph, mut nodes, mut count) = (
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
        0,
        null_mut(),
        null(),
        0,
    );
    ok!(cuStreamGetCaptureInfo_v2(
        stream,
        &mut status,
        &mut id,
        &mut graph,
        &mut nodes,
        &mut count
    ));
    assert!(count > 0);
    // SAFETY: the driver has lent a list of `count` nodes.
    unsafe { *nodes }
}

/// A capturing stream and a node of its capture.
fn capture(w: &World) -> (CUstream, *mut CUgraphNode) {
    let stream = w.capturing();
    (stream, slot(captured(w, stream)))
}

thread_local! {
    static CAPTURE: std::cell::Cell<(CUstream, *mut CUgraphNode)> =
        const { std::cell::Cell::new((null_mut(), null_mut())) };
}

/// The stream of a new capture, a node of which `node` tells.
fn stream_with_node(w: &World) -> CUstream {
    let found = capture(w);
    CAPTURE.set(found);
    found.0
}

fn node() -> *mut CUgraphNode {
    CAPTURE.get().1
}

calls! { w:
    cuStreamCreate(out(), 0) 0;
    cuStreamCreateWithPriority(out(), 0, 0) 0;
    cuStreamDestroy_v2(stream()) 0;
    cuStreamSynchronize(w.own.stream) 0;
    cuStreamQuery(w.own.stream) 0;
    cuStreamGetPriority(w.own.stream, out()) 0;
    cuStreamGetFlags(w.own.stream, out()) 0;
    cuStreamGetId(w.own.stream, out()) 0;
    cuStreamGetCtx(w.own.stream, out()) 0;
    cuStreamGetCtx_v2(w.own.stream, out(), out()) 0;
    cuStreamGetDevice(w.own.stream, out()) 0;
    cuStreamAddCallback(w.own.stream, CALLBACK, null_mut(), 0) 0;
    cuLaunchHostFunc(w.own.stream, NOTHING, null_mut()) 0;
    cuStreamGetAttribute(w.own.stream, PRIORITY, out()) 0;
    cuStreamSetAttribute(w.own.stream, PRIORITY, given(CUstreamAttrValue::default())) 0;
    cuStreamCopyAttributes(w.own.stream, w.own.stream) 0;
    cuStreamWaitValue32(w.own.stream, w.own.memory, 0, WAIT_FOR_GREATER_OR_EQUAL) 801;
    cuStreamWaitValue64(w.own.stream, w.own.memory, 0, WAIT_FOR_GREATER_OR_EQUAL) 801;
    cuStreamWriteValue32(w.own.stream, w.own.memory, 0, WRITE) 801;
    cuStreamWriteValue64(w.own.stream, w.own.memory, 0, WRITE) 801;
    cuStreamBatchMemOp(w.own.stream, 1, memory_operations(&w.own), 0) 801;
    cuStreamWaitValue32_v2(w.own.stream, w.own.memory, 0, WAIT_FOR_GREATER_OR_EQUAL) 0;
    cuStreamWaitValue64_v2(w.own.stream, w.own.memory, 0, WAIT_FOR_GREATER_OR_EQUAL) 0;
    cuStreamWriteValue32_v2(w.own.stream, w.own.memory, 0, WRITE) 0;
    cuStreamWriteValue64_v2(w.own.stream, w.own.memory, 0, WRITE) 0;
    cuStreamBatchMemOp_v2(w.own.stream, 1, memory_operations(&w.own), 0) 0;
    cuStreamBeginCapture(w.stream()) 0;
    cuStreamBeginCapture_v2(w.stream(), RELAXED) 0;
    cuStreamBeginCaptureToGraph(w.stream(), fresh(), before(), null(), 1, RELAXED) 0;
    cuStreamEndCapture(ended_capture(w), out()) 0;
    cuStreamIsCapturing(w.own.stream, out()) 0;
    cuStreamGetCaptureInfo(w.capturing(), out(), out()) 0;
    cuStreamGetCaptureInfo_v2(w.capturing(), out(), out(), out(), out(), out()) 0;
    cuStreamGetCaptureInfo_v3(w.capturing(), out(), out(), out(), out(), out(), out()) 0;
    cuStreamUpdateCaptureDependencies(stream_with_node(w), node(), 1, 1) 0;
    cuStreamUpdateCaptureDependencies_v2(stream_with_node(w), node(), null(), 1, 1) 0;
    cuThreadExchangeStreamCaptureMode(slot(RELAXED)) 0;
}
