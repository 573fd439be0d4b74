//! What an update of an executable graph takes over besides parameters: references to values, conditions; and how nodes are paired.

use crate::common::graphs::*;
use crate::common::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Gives a graph a value, and the count of its destructions.
fn own_value(graph: CUgraph) -> &'static AtomicU32 {
    let drops: &'static AtomicU32 = Box::leak(Box::default());
    let data = core::ptr::from_ref(drops).cast_mut().cast();
    let object: CUuserObject = get!(cuUserObjectCreate(data, Some(count_up), 1, 1));
    let moved = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE.0;
    ok!(cuGraphRetainUserObject(graph, object, 1, moved));
    drops
}

/// Waits for a destructor, which runs some time after the last reference went.
fn wait_for(drops: &AtomicU32) {
    let start = Instant::now();
    while drops.load(Ordering::SeqCst) == 0 {
        assert!(start.elapsed() < Duration::from_secs(10), "not given back");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn is_alive(drops: &AtomicU32) -> bool {
    std::thread::sleep(Duration::from_millis(20));
    drops.load(Ordering::SeqCst) == 0
}

// covers: GRAPH-43
#[test]
fn an_update_takes_over_the_references_of_the_graph() {
    let _turn = turn();
    gpu();
    let (stream, memory) = (stream(), upload(&[0_u32]));
    let [first, second] = [1, 2].map(|value| {
        let graph = graph();
        fill_node(graph, &[], memory, value, 1);
        (graph, own_value(graph))
    });
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(first.0, 0));
    ok!(cuGraphDestroy(first.0));
    let gate = Gate::new();
    gate.block(stream);
    ok!(cuGraphLaunch(exec, stream));
    let mut information = CUgraphExecUpdateResultInfo::default();
    ok!(cuGraphExecUpdate_v2(exec, second.0, &mut information));
    ok!(cuGraphDestroy(second.0));
    assert!(is_alive(first.1), "the launch before still needs it");
    gate.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(memory, 1), [1]);
    wait_for(first.1);
    launch(exec, stream);
    assert_eq!(download::<u32>(memory, 1), [2]);
    assert!(is_alive(second.1));
    ok!(cuGraphExecDestroy(exec));
    wait_for(second.1);
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

// covers: GRAPH-43
#[test]
fn references_of_a_child_are_the_childs() {
    let _turn = turn();
    gpu();
    let (stream, memory) = (stream(), upload(&[0_u32]));
    let [first, second] = [1, 2].map(|value| {
        let graph = graph();
        fill_node(graph, &[], memory, value, 1);
        (graph, own_value(graph))
    });
    let parent = graph();
    let of_parent = own_value(parent);
    let node: CUgraphNode = get!(cuGraphAddChildGraphNode(parent, null(), 0, first.0));
    ok!(cuGraphDestroy(first.0));
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(parent, 0));
    // The node still is a name for the executable graph's, so the parent stays.
    assert!(is_alive(first.1));
    ok!(cuGraphExecChildGraphNodeSetParams(exec, node, second.0));
    ok!(cuGraphDestroy(second.0));
    ok!(cuGraphDestroy(parent));
    // The clone in the parent was the last that held it.
    wait_for(first.1);
    assert!(is_alive(second.1) && is_alive(of_parent));
    launch(exec, stream);
    assert_eq!(download::<u32>(memory, 1), [2]);
    ok!(cuGraphExecDestroy(exec));
    wait_for(second.1);
    wait_for(of_parent);
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

/// What a driver's call answered in a destructor; 0 until then.
static ANSWER: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn calls_the_driver(_: *mut c_void) {
    let mut free = 0;
    // SAFETY: both results go to a variable that outlives the call.
    let answer = unsafe { cuMemGetInfo_v2(&mut free, &mut 0) };
    ANSWER.store(answer.0 + 1, Ordering::SeqCst);
}

// covers: GRAPH-44
#[test]
fn a_destructor_may_not_call_the_driver() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        println!("skipped: a GPU's driver leaves undefined what such a call does");
        return;
    }
    let graph = graph();
    let object: CUuserObject = get!(cuUserObjectCreate(null_mut(), Some(calls_the_driver), 1, 1));
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    ok!(cuGraphDestroy(graph));
    wait_for_answer(800);
}

fn wait_for_answer(expected: u32) {
    let start = Instant::now();
    while ANSWER.load(Ordering::SeqCst) == 0 {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "no destructor ran"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(ANSWER.load(Ordering::SeqCst) - 1, expected);
}

// covers: GRAPH-52
#[test]
fn nodes_are_paired_as_they_were_made() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let memory = upload(&[0_u32; 4]);
    let at = |index: u64| memory + 4 * index;
    // A diamond: the sides differ in what they fill, and in the order of their creation.
    let diamond = |values: [u32; 4], swapped: bool| {
        let graph = graph();
        let top = fill_node(graph, &[], at(0), values[0], 1);
        let mut sides = [(1, values[1]), (2, values[2])];
        if swapped {
            sides.reverse();
        }
        let sides = sides.map(|(index, value)| fill_node(graph, &[top], at(index), value, 1));
        let bottom = fill_node(graph, &sides, at(3), values[3], 1);
        (graph, [top, sides[0], sides[1], bottom])
    };
    let (graph, nodes) = diamond([1, 2, 3, 4], false);
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    let mut information = CUgraphExecUpdateResultInfo::default();
    let (same, _) = diamond([5, 6, 7, 8], false);
    ok!(cuGraphExecUpdate_v2(exec, same, &mut information));
    launch(exec, stream);
    assert_eq!(download::<u32>(memory, 4), [5, 6, 7, 8]);
    // The first side is paired with the first, whatever it fills: all of the new graph's values arrive, none is mixed.
    let (swapped, _) = diamond([9, 10, 11, 12], true);
    // SAFETY: the result goes to a variable that outlives the call.
    let outcome = unsafe { cuGraphExecUpdate_v2(exec, swapped, &mut information) };
    launch(exec, stream);
    match outcome.0 {
        0 => {
            assert_eq!(download::<u32>(memory, 4), [9, 10, 11, 12]);
            ok!(cuMemsetD32_v2(memory, 0, 4));
            // The fill is in the default stream, for which this one does not wait.
            ok!(cuStreamSynchronize(null_mut()));
            // And the node that was the first side now is the one that fills the second word.
            let parameters = fill(at(2), 99, 1);
            let context = get!(cuCtxGetCurrent());
            ok!(cuGraphExecMemsetNodeSetParams(
                exec,
                nodes[1],
                &parameters,
                context
            ));
            launch(exec, stream);
            assert_eq!(download::<u32>(memory, 4), [9, 10, 99, 12]);
        }
        _ => assert_eq!(download::<u32>(memory, 4), [5, 6, 7, 8]),
    }
    for graph in [graph, same, swapped] {
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

// covers: GRAPH-56
#[test]
fn an_update_takes_over_what_conditions_begin_with() {
    let _turn = turn();
    gpu();
    let (stream, memory) = (stream(), upload(&[0_u32]));
    let context = get!(cuCtxGetCurrent());
    let with_default = |default| {
        let graph = graph();
        let before = fill_node(graph, &[], memory, 1, 1);
        let handle: CUgraphConditionalHandle =
            get!(cuGraphConditionalHandleCreate(graph, context, default, 1));
        let mut parameters = CUgraphNodeParams {
            type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            ..Default::default()
        };
        parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
            size: 1,
            phGraph_out: null_mut(),
            ctx: context,
        };
        let _: CUgraphNode = get!(cuGraphAddNode_v2(
            graph,
            &before,
            null(),
            1,
            &mut parameters
        ));
        // SAFETY: the driver has filled in an array of one graph.
        let body = unsafe { *parameters.__bindgen_anon_1.conditional.phGraph_out };
        fill_node(body, &[], memory, 7, 1);
        graph
    };
    let [on, off] = [1, 0].map(with_default);
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(on, 0));
    launch(exec, stream);
    assert_eq!(download::<u32>(memory, 1), [7]);
    let mut information = CUgraphExecUpdateResultInfo::default();
    for (graph, expected) in [(off, 1), (on, 7), (off, 1)] {
        ok!(cuGraphExecUpdate_v2(exec, graph, &mut information));
        launch(exec, stream);
        assert_eq!(download::<u32>(memory, 1), [expected]);
    }
    for graph in [on, off] {
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

// covers: GRAPH-45
#[test]
fn references_are_taken_and_given_back_by_number() {
    let _turn = turn();
    let backend = gpu();
    let drops: &'static AtomicU32 = Box::leak(Box::default());
    let data = core::ptr::from_ref(drops).cast_mut().cast();
    let object: CUuserObject = get!(cuUserObjectCreate(data, Some(count_up), 2, 1));
    ok!(cuUserObjectRetain(object, 3));
    ok!(cuUserObjectRelease(object, 4));
    let graph = graph();
    ok!(cuGraphRetainUserObject(graph, object, 2, 0));
    ok!(cuUserObjectRelease(object, 1));
    assert!(is_alive(drops), "the graph has two references");
    ok!(cuGraphReleaseUserObject(graph, object, 1));
    assert!(is_alive(drops), "the graph has one");
    if backend == Backend::Simulator {
        // Undefined on a GPU.
        for wrong in [0, 2, 1 << 31] {
            fails!(1, cuGraphReleaseUserObject(graph, object, wrong));
        }
        assert!(is_alive(drops));
    }
    ok!(cuGraphReleaseUserObject(graph, object, 1));
    wait_for(drops);
    ok!(cuGraphDestroy(graph));
}

// covers: GRAPH-45
#[test]
fn more_references_than_the_program_has_are_not_released() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let drops: &'static AtomicU32 = Box::leak(Box::default());
    let data = core::ptr::from_ref(drops).cast_mut().cast();
    let object: CUuserObject = get!(cuUserObjectCreate(data, Some(count_up), 2, 1));
    for wrong in [0, 3, 1 << 31] {
        fails!(1, cuUserObjectRelease(object, wrong));
    }
    fails!(1, cuUserObjectRetain(object, 0));
    fails!(1, cuUserObjectRetain(object, 1 << 31));
    // A move that is refused leaves the graph without them.
    let graph = graph();
    let moved = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE.0;
    fails!(1, cuGraphRetainUserObject(graph, object, 3, moved));
    assert!(is_alive(drops));
    ok!(cuUserObjectRelease(object, 2));
    wait_for(drops);
    fails!(400, cuUserObjectRelease(object, 1));
    ok!(cuGraphDestroy(graph));
}

// covers: GRAPH-55
#[test]
fn a_change_of_the_template_and_an_update_do_what_a_setter_does() {
    let _turn = turn();
    gpu();
    let (stream, memory) = (stream(), upload(&[0_u32; 4]));
    let context = get!(cuCtxGetCurrent());
    let graph = graph();
    let node = fill_node(graph, &[], memory, 1, 4);
    let execs = [instantiate(graph), instantiate(graph)];
    for (value, count) in [(2, 3), (9, 1), (4, 4)] {
        let parameters = fill(memory, value, count);
        ok!(cuGraphMemsetNodeSetParams(node, &parameters));
        let mut information = CUgraphExecUpdateResultInfo::default();
        ok!(cuGraphExecUpdate_v2(execs[0], graph, &mut information));
        ok!(cuGraphExecMemsetNodeSetParams(
            execs[1],
            node,
            &parameters,
            context
        ));
        let results = execs.map(|exec| {
            ok!(cuMemsetD32_v2(memory, 0, 4));
            ok!(cuCtxSynchronize());
            launch(exec, stream);
            download::<u32>(memory, 4)
        });
        let filled = vec![value; count].into_iter();
        let expected: Vec<u32> = filled.chain(vec![0; 4 - count]).collect();
        assert_eq!(results, [expected.clone(), expected]);
    }
    for exec in execs {
        ok!(cuGraphExecDestroy(exec));
    }
    ok!(cuGraphDestroy(graph));
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_change_of_one_node_counts_from_the_next_launch() {
    // covers: GRAPH-53, GRAPH-54
    let _turn = turn();
    gpu();
    let (graph, stream) = (graph(), stream());
    let log = upload(&[0u32; 100]);
    let node = fill_node(graph, &[], log, 0, 1);
    let exec = instantiate(graph);
    let context = get!(cuCtxGetCurrent());
    let gate = Gate::new();
    gate.block(stream);
    for i in 0..100 {
        ok!(cuGraphExecMemsetNodeSetParams(
            exec,
            node,
            &fill(log + 4 * i, i as u32, 1),
            context
        ));
        ok!(cuGraphLaunch(exec, stream));
    }
    gate.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(log, 100), (0..100).collect::<Vec<u32>>());
    // The template still has what it had.
    let mut old = CUDA_MEMSET_NODE_PARAMS::default();
    ok!(cuGraphMemsetNodeGetParams(node, &mut old));
    assert_eq!((old.dst, old.value), (log, 0));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn whole_updates_say_why_they_are_refused() {
    // covers: GRAPH-50, GRAPH-51
    let _turn = turn();
    gpu();
    let stream = stream();
    let memory = upload(&[0u32; 8]);
    let count = counter();
    let make = |value, shape: u32| {
        let graph = graph();
        let first = fill_node(graph, &[], memory, value, 8);
        match shape {
            0 => host_node(graph, &[first], count),
            1 => host_node(graph, &[], count),
            2 => fill_node(graph, &[first], memory, value, 4),
            _ => {
                let host = host_node(graph, &[first], count);
                host_node(graph, &[host], count)
            }
        };
        graph
    };
    let exec = instantiate(make(1, 0));
    let mut information = CUgraphExecUpdateResultInfo::default();
    ok!(cuGraphExecUpdate_v2(exec, make(2, 0), &mut information));
    assert_eq!(information.result.0, 0);
    launch(exec, stream);
    assert_eq!(download::<u32>(memory, 8), [2; 8]);
    for (shape, reasons) in [(1, &[2][..]), (2, &[3, 2]), (3, &[2])] {
        fails!(
            910,
            cuGraphExecUpdate_v2(exec, make(3, shape), &mut information)
        );
        assert!(
            reasons.contains(&information.result.0),
            "shape {shape}: reason {}",
            information.result.0
        );
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuStreamDestroy_v2(stream));
}
