//! Graphs built by hand: nodes and edges.

use crate::common::graphs::*;
use crate::common::*;
use std::sync::atomic::Ordering;

#[test]
fn a_launch_runs_what_was_instantiated() {
    // covers: GRAPH-01, GRAPH-05, GRAPH-06, GRAPH-07
    let _turn = turn();
    gpu();
    let (graph, stream) = (graph(), stream());
    let (one, two) = (upload(&[0u32; 64]), upload(&[0u32; 64]));
    let count = counter();
    let first = fill_node(graph, &[], one, 11, 64);
    let second = copy_node(graph, &[first], two, one, 256);
    host_node(graph, &[second], count);
    let exec = instantiate(graph);
    // What happens to the template afterwards changes nothing.
    host_node(graph, &[], count);
    ok!(cuGraphDestroy(graph));
    for launches in 1..=3 {
        // A copy from the host is complete when the call returns; a fill need not be.
        ok!(cuMemcpyHtoD_v2(two, [0u32; 64].as_ptr().cast(), 256));
        launch(exec, stream);
        assert_eq!(download::<u32>(two, 64), [11; 64]);
        assert_eq!(count.load(Ordering::SeqCst), launches);
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn an_empty_graph_does_nothing() {
    let _turn = turn();
    gpu();
    let (graph, stream) = (graph(), stream());
    let exec = instantiate(graph);
    launch(exec, stream);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn edges_can_come_later_but_close_no_cycle() {
    // covers: GRAPH-02, GRAPH-08, GRAPH-13, GRAPH-18
    let _turn = turn();
    gpu();
    let graph = graph();
    let nodes: Vec<CUgraphNode> = (0..4)
        .map(|_| get!(cuGraphAddEmptyNode(graph, null(), 0)))
        .collect();
    let (from, to) = (
        [nodes[0], nodes[0], nodes[1], nodes[2]],
        [nodes[1], nodes[2], nodes[3], nodes[3]],
    );
    ok!(cuGraphAddDependencies(graph, from.as_ptr(), to.as_ptr(), 4));
    fails!(
        1,
        cuGraphAddDependencies(graph, from.as_ptr(), to.as_ptr(), 1)
    );
    let mut edges = 0;
    ok!(cuGraphGetEdges(graph, null_mut(), null_mut(), &mut edges));
    assert_eq!(edges, 4);
    let (mut froms, mut tos) = ([null_mut(); 4], [null_mut(); 4]);
    ok!(cuGraphGetEdges(
        graph,
        froms.as_mut_ptr(),
        tos.as_mut_ptr(),
        &mut edges
    ));
    assert_eq!((froms, tos), (from, to));
    let (mut roots, mut count) = ([null_mut(); 4], 4);
    ok!(cuGraphGetRootNodes(graph, roots.as_mut_ptr(), &mut count));
    assert_eq!((count, roots[0]), (1, nodes[0]));
    ok!(cuGraphNodeGetDependencies(nodes[3], null_mut(), &mut count));
    assert_eq!(count, 2);
    // The driver may refuse a cycle when the edge is added or when the graph is instantiated.
    // SAFETY: all arrays have one entry.
    let refused = unsafe { cuGraphAddDependencies(graph, &nodes[3], &nodes[0], 1) };
    if refused == CUresult::CUDA_SUCCESS {
        let mut exec = null_mut();
        fails!(1, cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    } else {
        assert_eq!(refused.0, 1);
    }
    ok!(cuGraphDestroyNode(nodes[1]));
    ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
    assert_eq!(count, 3);
    ok!(cuGraphDestroy(graph));
}

#[test]
fn parameters_that_cannot_be_are_refused_when_they_are_given() {
    let _turn = turn();
    gpu();
    let graph = graph();
    let memory = upload(&[0u32; 4]);
    let context = get!(cuCtxGetCurrent());
    let mut node = null_mut();
    let wrong = CUDA_MEMSET_NODE_PARAMS {
        elementSize: 3,
        ..fill(memory, 0, 4)
    };
    fails!(
        1,
        cuGraphAddMemsetNode(&mut node, graph, null(), 0, &wrong, context)
    );
    fails!(
        1,
        cuGraphAddMemsetNode(
            &mut node,
            graph,
            null(),
            0,
            &fill(memory, 0, 1 << 40),
            context
        )
    );
    fails!(
        1,
        cuGraphAddHostNode(
            &mut node,
            graph,
            null(),
            0,
            &CUDA_HOST_NODE_PARAMS {
                fn_: None,
                userData: null_mut()
            }
        )
    );
    // A dependency from another graph.
    let other = get!(cuGraphCreate(0));
    let stranger: CUgraphNode = get!(cuGraphAddEmptyNode(other, null(), 0));
    fails!(1, cuGraphAddEmptyNode(&mut node, graph, &stranger, 1));
    ok!(cuGraphDestroy(other));
    ok!(cuGraphDestroy(graph));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn a_child_graph_is_a_copy_and_is_done_before_what_follows() {
    // covers: GRAPH-11
    let _turn = turn();
    gpu();
    let (parent, child, stream) = (graph(), graph(), stream());
    let (one, two) = (upload(&[0u32; 8]), upload(&[0u32; 8]));
    let inner = fill_node(child, &[], one, 5, 8);
    fill_node(child, &[inner], one, 6, 4);
    let node: CUgraphNode = get!(cuGraphAddChildGraphNode(parent, null(), 0, child));
    copy_node(parent, &[node], two, one, 32);
    // Later changes of the original do not show.
    fill_node(child, &[inner], one, 99, 8);
    let mut embedded = null_mut();
    ok!(cuGraphChildGraphNodeGetGraph(node, &mut embedded));
    let mut count = 0;
    ok!(cuGraphGetNodes(embedded, null_mut(), &mut count));
    assert_eq!(count, 2);
    let exec = instantiate(parent);
    launch(exec, stream);
    assert_eq!(download::<u32>(two, 8), [6, 6, 6, 6, 5, 5, 5, 5]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(parent));
    ok!(cuGraphDestroy(child));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn event_nodes_reach_out_of_the_graph() {
    // covers: GRAPH-09
    let _turn = turn();
    gpu();
    let (graph, stream, outside) = (graph(), stream(), stream());
    let (before, after): (CUevent, CUevent) = (get!(cuEventCreate(2)), get!(cuEventCreate(2)));
    let count = counter();
    let wait: CUgraphNode = get!(cuGraphAddEventWaitNode(graph, null(), 0, before));
    let host = host_node(graph, &[wait], count);
    let _: CUgraphNode = get!(cuGraphAddEventRecordNode(graph, &host, 1, after));
    let exec = instantiate(graph);
    let gate = Gate::new();
    gate.block(outside);
    ok!(cuEventRecord(before, outside));
    ok!(cuGraphLaunch(exec, stream));
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(
        count.load(Ordering::SeqCst),
        0,
        "the graph waits for the event"
    );
    gate.open();
    ok!(cuEventSynchronize(after));
    assert_eq!(
        count.load(Ordering::SeqCst),
        1,
        "the event stands for the launch's node"
    );
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    for stream in [stream, outside] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn nodes_free_what_nodes_have_allocated() {
    let _turn = turn();
    gpu();
    let (graph, stream) = (graph(), stream());
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(4096));
    let pooled: CUdeviceptr = get!(cuMemAllocAsync(4096, stream));
    ok!(cuStreamSynchronize(stream));
    let mut node = null_mut();
    for address in [0, 0x1234, plain, plain + 16, pooled] {
        fails!(
            1,
            cuGraphAddMemFreeNode(&mut node, graph, null(), 0, address)
        );
    }
    ok!(cuMemFree_v2(plain));
    ok!(cuMemFree_v2(pooled));
    ok!(cuGraphDestroy(graph));
    let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    ok!(cuStreamBeginCapture_v2(stream, relaxed));
    let allocated: CUdeviceptr = get!(cuMemAllocAsync(4096, stream));
    let mut captured = null_mut();
    ok!(cuStreamEndCapture(stream, &mut captured));
    let (mut last, mut count) = (null_mut(), 1);
    ok!(cuGraphGetNodes(captured, &mut last, &mut count));
    ok!(cuGraphAddMemFreeNode(
        &mut node, captured, &last, 1, allocated
    ));
    fails!(
        1,
        cuGraphAddMemFreeNode(&mut node, captured, &last, 1, allocated)
    );
    ok!(cuGraphDestroy(captured));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn clones_and_pictures() {
    // covers: GRAPH-18
    let _turn = turn();
    gpu();
    let graph = graph();
    let memory = upload(&[0u32; 4]);
    let node = fill_node(graph, &[], memory, 3, 4);
    host_node(graph, &[node], counter());
    let clone: CUgraph = get!(cuGraphClone(graph));
    let twin: CUgraphNode = get!(cuGraphNodeFindInClone(node, clone));
    assert_ne!(twin, node);
    ok!(cuGraphMemsetNodeSetParams(twin, &fill(memory, 4, 4)));
    let mut original = CUDA_MEMSET_NODE_PARAMS::default();
    ok!(cuGraphMemsetNodeGetParams(node, &mut original));
    assert_eq!(original.value, 3);
    let path = std::env::temp_dir().join(format!("warpsmith-graph-{}.dot", std::process::id()));
    let c_path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    ok!(cuGraphDebugDotPrint(graph, c_path.as_ptr(), 0));
    let text = std::fs::read_to_string(&path).unwrap();
    let _ = std::fs::remove_file(&path);
    assert!(text.starts_with("digraph") && text.contains("->"), "{text}");
    let mut kind = CUgraphNodeType_enum(99);
    ok!(cuGraphNodeGetType(node, &mut kind));
    assert_eq!(kind, CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET);
    ok!(cuGraphDestroy(clone));
    ok!(cuGraphDestroy(graph));
}
