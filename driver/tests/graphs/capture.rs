//! Stream capture and the errors it knows.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::*;

const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
const GLOBAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;

fn count_on(stream: CUstream, counter: &'static AtomicU32) {
    ok!(cuLaunchHostFunc(
        stream,
        Some(count_up),
        core::ptr::from_ref(counter).cast_mut().cast()
    ));
}

fn status(stream: CUstream) -> u32 {
    let mut status = CUstreamCaptureStatus_enum(9);
    ok!(cuStreamIsCapturing(stream, &mut status));
    status.0
}

fn run(graph: CUgraph, stream: CUstream) {
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

fn edges(graph: CUgraph) -> usize {
    let mut count = 0;
    ok!(cuGraphGetEdges(graph, null_mut(), null_mut(), &mut count));
    count
}

#[test]
fn a_capture_collects_and_runs_nothing() {
    // covers: GRAPH-24, GRAPH-26, GRAPH-31
    let _turn = turn();
    gpu();
    let stream = stream();
    let memory = upload(&[0u32; 16]);
    let count = counter();
    assert_eq!(status(stream), 0);
    ok!(cuStreamBeginCapture_v2(stream, GLOBAL));
    assert_eq!(status(stream), 1);
    ok!(cuMemsetD32Async(memory, 5, 16, stream));
    count_on(stream, count);
    let graph: CUgraph = get_graph(stream);
    assert_eq!(status(stream), 0);
    assert_eq!(download::<u32>(memory, 16), [0; 16]);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert_eq!(edges(graph), 1);
    run(graph, stream);
    assert_eq!(download::<u32>(memory, 16), [5; 16]);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

fn get_graph(stream: CUstream) -> CUgraph {
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(stream, &mut graph));
    assert!(!graph.is_null());
    graph
}

#[test]
fn forked_streams_join_into_a_diamond() {
    // covers: GRAPH-29
    let _turn = turn();
    gpu();
    let (main, side) = (stream(), stream());
    let (fork, join): (CUevent, CUevent) = (get!(cuEventCreate(2)), get!(cuEventCreate(2)));
    let count = counter();
    ok!(cuStreamBeginCapture_v2(main, GLOBAL));
    count_on(main, count);
    ok!(cuEventRecord(fork, main));
    ok!(cuStreamWaitEvent(side, fork, 0));
    assert_eq!(status(side), 1, "the waiting stream takes part");
    count_on(main, count);
    count_on(side, count);
    ok!(cuEventRecord(join, side));
    ok!(cuStreamWaitEvent(main, join, 0));
    count_on(main, count);
    let graph = get_graph(main);
    assert_eq!(status(side), 0);
    assert_eq!(edges(graph), 4);
    run(graph, main);
    assert_eq!(count.load(Ordering::SeqCst), 4);
    for event in [fork, join] {
        ok!(cuEventDestroy_v2(event));
    }
    for stream in [main, side] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn the_end_must_come_on_the_first_stream_with_all_others_joined() {
    // covers: GRAPH-30
    let _turn = turn();
    gpu();
    let (main, side) = (stream(), stream());
    let fork: CUevent = get!(cuEventCreate(2));
    let mut graph = null_mut();
    fails!(401, cuStreamEndCapture(main, &mut graph));
    ok!(cuStreamBeginCapture_v2(main, RELAXED));
    fails!(401, cuStreamBeginCapture_v2(main, RELAXED));
    ok!(cuEventRecord(fork, main));
    ok!(cuStreamWaitEvent(side, fork, 0));
    count_on(side, counter());
    fails!(904, cuStreamEndCapture(main, &mut graph));
    assert!(graph.is_null());
    ok!(cuStreamSynchronize(side));
    ok!(cuStreamSynchronize(main));
    ok!(cuStreamBeginCapture_v2(main, RELAXED));
    ok!(cuEventRecord(fork, main));
    ok!(cuStreamWaitEvent(side, fork, 0));
    fails!(903, cuStreamEndCapture(side, &mut graph));
    fails!(901, cuStreamEndCapture(main, &mut graph));
    ok!(cuEventDestroy_v2(fork));
    for stream in [main, side] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn waiting_for_what_is_being_captured_spoils_the_capture() {
    // covers: GRAPH-33, GRAPH-38
    let _turn = turn();
    gpu();
    let stream = stream();
    let event: CUevent = get!(cuEventCreate(2));
    let mut graph = null_mut();
    for wrong in 0..4 {
        ok!(cuStreamBeginCapture_v2(stream, RELAXED));
        count_on(stream, counter());
        ok!(cuEventRecord(event, stream));
        match wrong {
            0 => fails!(900, cuStreamSynchronize(stream)),
            1 => fails!(900, cuStreamQuery(stream)),
            2 => fails!(907, cuEventSynchronize(event)),
            _ => fails!(900, cuCtxSynchronize()),
        }
        assert_eq!(status(stream), 2, "case {wrong}");
        for _ in 0..3 {
            fails!(901, cuLaunchHostFunc(stream, Some(count_up), null_mut()));
        }
        fails!(901, cuStreamEndCapture(stream, &mut graph));
        assert!(graph.is_null());
        let count = counter();
        count_on(stream, count);
        ok!(cuStreamSynchronize(stream));
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn the_legacy_stream_and_blocking_captures_exclude_each_other() {
    // covers: GRAPH-25, GRAPH-34
    let _turn = turn();
    gpu();
    let memory = upload(&[0u8; 16]);
    let host = [1u8; 16];
    let mut graph = null_mut();
    fails!(900, cuStreamBeginCapture_v2(CU_STREAM_LEGACY, RELAXED));
    let blocking: CUstream = get!(cuStreamCreate(0));
    ok!(cuStreamBeginCapture_v2(blocking, RELAXED));
    fails!(906, cuMemcpyHtoD_v2(memory, host.as_ptr().cast(), 16));
    fails!(901, cuStreamEndCapture(blocking, &mut graph));
    let free = stream();
    ok!(cuStreamBeginCapture_v2(free, RELAXED));
    ok!(cuMemcpyHtoD_v2(memory, host.as_ptr().cast(), 16));
    ok!(cuGraphDestroy(get_graph(free)));
    ok!(cuStreamBeginCapture_v2(CU_STREAM_PER_THREAD, RELAXED));
    ok!(cuGraphDestroy(get_graph(CU_STREAM_PER_THREAD)));
    ok!(cuMemFree_v2(memory));
    for stream in [blocking, free] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn captures_cannot_be_merged_nor_depend_on_what_is_real() {
    // covers: GRAPH-35, GRAPH-36
    let _turn = turn();
    gpu();
    let (one, two) = (stream(), stream());
    let event: CUevent = get!(cuEventCreate(2));
    let mut graph = null_mut();
    ok!(cuStreamBeginCapture_v2(one, RELAXED));
    ok!(cuStreamBeginCapture_v2(two, RELAXED));
    ok!(cuEventRecord(event, one));
    fails!(902, cuStreamWaitEvent(two, event, 0));
    fails!(901, cuStreamEndCapture(one, &mut graph));
    fails!(901, cuStreamEndCapture(two, &mut graph));

    ok!(cuEventRecord(event, two));
    ok!(cuStreamBeginCapture_v2(one, RELAXED));
    fails!(905, cuStreamWaitEvent(one, event, 0));
    fails!(901, cuStreamEndCapture(one, &mut graph));

    // Said to be external, the wait becomes a node, and so does a record.
    ok!(cuStreamBeginCapture_v2(one, RELAXED));
    ok!(cuStreamWaitEvent(one, event, 1));
    ok!(cuEventRecordWithFlags(event, one, 1));
    let graph = get_graph(one);
    assert_eq!(edges(graph), 1);
    run(graph, one);
    ok!(cuEventSynchronize(event));
    ok!(cuEventDestroy_v2(event));
    for stream in [one, two] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn a_capture_keeps_what_a_destroyed_stream_did() {
    let _turn = turn();
    gpu();
    let origin = stream();
    let (forked, done): (CUevent, CUevent) = (get!(cuEventCreate(2)), get!(cuEventCreate(2)));
    let memory = upload(&[0u8; 64]);
    for joined in [true, false] {
        let other = stream();
        ok!(cuStreamBeginCapture_v2(origin, RELAXED));
        ok!(cuMemsetD8Async(memory, 1, 64, origin));
        ok!(cuEventRecord(forked, origin));
        ok!(cuStreamWaitEvent(other, forked, 0));
        ok!(cuMemsetD8Async(memory, 2, 32, other));
        if joined {
            ok!(cuEventRecord(done, other));
            ok!(cuStreamWaitEvent(origin, done, 0));
        }
        ok!(cuStreamDestroy_v2(other));
        ok!(cuMemsetD8Async(memory + 16, 3, 16, origin));
        let mut graph = null_mut();
        if !joined {
            fails!(904, cuStreamEndCapture(origin, &mut graph));
            continue;
        }
        ok!(cuStreamEndCapture(origin, &mut graph));
        run(graph, origin);
        let expected = [[2; 16], [3; 16], [1; 16], [1; 16]].concat();
        assert_eq!(download::<u8>(memory, 64), expected);
    }
    ok!(cuMemFree_v2(memory));
    for event in [forked, done] {
        ok!(cuEventDestroy_v2(event));
    }
    ok!(cuStreamDestroy_v2(origin));
}

#[test]
fn allocations_are_refused_unless_the_mode_bears_them() {
    // covers: GRAPH-28
    let _turn = turn();
    gpu();
    let stream = stream();
    let (mut graph, mut memory) = (null_mut(), 0);
    ok!(cuStreamBeginCapture_v2(stream, GLOBAL));
    fails!(900, cuMemAlloc_v2(&mut memory, 16));
    fails!(901, cuStreamEndCapture(stream, &mut graph));
    ok!(cuStreamBeginCapture_v2(stream, GLOBAL));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            gpu();
            let mut memory = 0;
            fails!(900, cuMemAlloc_v2(&mut memory, 16));
        });
    });
    fails!(901, cuStreamEndCapture(stream, &mut graph));
    ok!(cuStreamBeginCapture_v2(stream, RELAXED));
    ok!(cuMemAlloc_v2(&mut memory, 16));
    ok!(cuGraphDestroy(get_graph(stream)));
    ok!(cuStreamBeginCapture_v2(stream, GLOBAL));
    let mut mode = RELAXED;
    ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
    ok!(cuMemFree_v2(memory));
    ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
    assert_eq!(mode, RELAXED);
    ok!(cuGraphDestroy(get_graph(stream)));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_capture_ends_on_its_own_thread() {
    // covers: GRAPH-28
    let _turn = turn();
    gpu();
    let stream = stream() as usize;
    ok!(cuStreamBeginCapture_v2(stream as CUstream, GLOBAL));
    std::thread::spawn(move || {
        gpu();
        let mut graph = null_mut();
        fails!(908, cuStreamEndCapture(stream as CUstream, &mut graph));
    })
    .join()
    .unwrap();
    let mut graph = null_mut();
    // SAFETY: the place outlives the call; whether the wrong thread's attempt spoilt the capture is the driver's affair.
    unsafe { cuStreamEndCapture(stream as CUstream, &mut graph) };
    if !graph.is_null() {
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuStreamDestroy_v2(stream as CUstream));
}

#[test]
fn some_calls_cannot_be_captured() {
    // covers: GRAPH-37
    let _turn = turn();
    gpu();
    let stream = stream();
    let mut graph = null_mut();
    unsafe extern "C" fn nothing(_: CUstream, _: CUresult, _: *mut c_void) {}
    ok!(cuStreamBeginCapture_v2(stream, RELAXED));
    fails!(
        900,
        cuStreamAddCallback(stream, Some(nothing), null_mut(), 0)
    );
    fails!(901, cuStreamEndCapture(stream, &mut graph));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn explicit_nodes_mix_into_a_capture() {
    // covers: GRAPH-27, GRAPH-32
    let _turn = turn();
    gpu();
    let stream = stream();
    let memory = upload(&[0u32; 4]);
    let context = get!(cuCtxGetCurrent());
    ok!(cuStreamBeginCapture_v2(stream, RELAXED));
    ok!(cuMemsetD32Async(memory, 1, 4, stream));
    let (mut status, mut id, mut graph) = (CUstreamCaptureStatus_enum(9), 0, null_mut());
    let (mut nodes, mut count) = (null(), 0);
    ok!(cuStreamGetCaptureInfo_v2(
        stream,
        &mut status,
        &mut id,
        &mut graph,
        &mut nodes,
        &mut count
    ));
    assert_eq!((status.0, count), (1, 1));
    assert_ne!(id, 0);
    let parameters = CUDA_MEMSET_NODE_PARAMS {
        dst: memory,
        pitch: 0,
        value: 2,
        elementSize: 4,
        width: 3,
        height: 1,
    };
    let mut node: CUgraphNode = get!(cuGraphAddMemsetNode(
        graph,
        nodes,
        count,
        &parameters,
        context
    ));
    ok!(cuStreamUpdateCaptureDependencies(stream, &mut node, 1, 1));
    ok!(cuMemsetD32Async(memory, 3, 2, stream));
    let graph = get_graph(stream);
    assert_eq!(edges(graph), 2);
    run(graph, stream);
    assert_eq!(download::<u32>(memory, 4), [3, 3, 2, 1]);

    // And a capture can go on where an explicit graph ends.
    let graph: CUgraph = get!(cuGraphCreate(0));
    let first: CUgraphNode = get!(cuGraphAddMemsetNode(graph, null(), 0, &parameters, context));
    ok!(cuStreamBeginCaptureToGraph(
        stream,
        graph,
        &first,
        null(),
        1,
        RELAXED
    ));
    ok!(cuMemsetD32Async(memory, 9, 1, stream));
    assert_eq!(get_graph(stream), graph);
    assert_eq!(edges(graph), 1);
    run(graph, stream);
    assert_eq!(download::<u32>(memory, 4), [9, 2, 2, 1]);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn captured_allocations_come_again_at_each_launch() {
    // covers: POOL-02
    let _turn = turn();
    gpu();
    let stream = stream();
    let result = upload(&[0u32; 4]);
    ok!(cuStreamBeginCapture_v2(stream, RELAXED));
    let memory: CUdeviceptr = get!(cuMemAllocAsync(16, stream));
    ok!(cuMemsetD32Async(memory, 6, 4, stream));
    ok!(cuMemcpyDtoDAsync_v2(result, memory, 16, stream));
    ok!(cuMemFreeAsync(memory, stream));
    let graph = get_graph(stream);
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    for _ in 0..3 {
        ok!(cuMemsetD32_v2(result, 0, 4));
        ok!(cuCtxSynchronize());
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(download::<u32>(result, 4), [6; 4]);
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}
