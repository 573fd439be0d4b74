//! Executable graphs: what they do when they are launched, what they own, and who waits for them.

use std::sync::atomic::Ordering;

use crate::common::graphs::*;
use crate::common::*;

#[test]
fn an_executable_graph_never_overlaps_itself() {
    // covers: GRAPH-20, GRAPH-21
    let _turn = turn();
    gpu();
    let (graph, first, second) = (graph(), stream(), stream());
    let count = counter();
    host_node(graph, &[], count);
    let exec = instantiate(graph);
    let gate = Gate::new();
    gate.block(first);
    ok!(cuGraphLaunch(exec, first));
    ok!(cuGraphLaunch(exec, second));
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(
        count.load(Ordering::SeqCst),
        0,
        "the launch in the other stream waits too"
    );
    gate.open();
    ok!(cuStreamSynchronize(second));
    assert_eq!(count.load(Ordering::SeqCst), 2);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    for stream in [first, second] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn disabled_nodes_keep_their_place_and_their_parameters() {
    // covers: GRAPH-57
    let _turn = turn();
    gpu();
    let (graph, stream) = (graph(), stream());
    let memory = upload(&[0u32; 4]);
    let first = fill_node(graph, &[], memory, 1, 4);
    let second = fill_node(graph, &[first], memory, 2, 2);
    let count = counter();
    let host = host_node(graph, &[second], count);
    let exec = instantiate(graph);
    ok!(cuGraphNodeSetEnabled(exec, second, 0));
    fails!(1, cuGraphNodeSetEnabled(exec, host, 0));
    launch(exec, stream);
    assert_eq!(download::<u32>(memory, 4), [1; 4]);
    let mut information = CUgraphExecUpdateResultInfo::default();
    ok!(cuGraphExecUpdate_v2(exec, graph, &mut information));
    let mut enabled = 9;
    ok!(cuGraphNodeGetEnabled(exec, second, &mut enabled));
    assert_eq!(enabled, 0, "an update of the whole does not switch on");
    ok!(cuGraphNodeSetEnabled(exec, second, 1));
    launch(exec, stream);
    assert_eq!(download::<u32>(memory, 4), [2, 2, 1, 1]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn values_owned_by_graphs_end_with_the_last_of_them() {
    // covers: GRAPH-40, GRAPH-41, GRAPH-42
    let _turn = turn();
    gpu();
    let (graph, stream) = (graph(), stream());
    let drops = counter();
    let data = core::ptr::from_ref(drops).cast_mut().cast();
    let object: CUuserObject = get!(cuUserObjectCreate(data, Some(count_up), 1, 1));
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    let gate = Gate::new();
    host_node(graph, &[], counter());
    let exec = instantiate(graph);
    ok!(cuGraphDestroy(graph));
    gate.block(stream);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuGraphExecDestroy(exec));
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(drops.load(Ordering::SeqCst), 0, "a launch still needs it");
    gate.open();
    ok!(cuStreamSynchronize(stream));
    for _ in 0..2000 {
        if drops.load(Ordering::SeqCst) == 1 {
            ok!(cuStreamDestroy_v2(stream));
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("the value was not given back");
}

#[test]
fn independent_branches_in_any_order_give_the_same() {
    // covers: GRAPH-02
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let (graph, stream) = (graph(), stream());
    let parts: Vec<CUdeviceptr> = (0..2).map(|_| upload(&[0u32; 64])).collect();
    let whole = upload(&[0u32; 128]);
    let start = fill_node(graph, &[], whole, 0, 128);
    let fills = [
        fill_node(graph, &[start], parts[0], 1, 64),
        fill_node(graph, &[start], parts[1], 2, 64),
    ];
    copy_node(graph, &fills, whole, parts[0], 256);
    copy_node(graph, &fills, whole + 256, parts[1], 256);
    let exec = instantiate(graph);
    for seed in 0..100 {
        assert!(warpsmith_driver::configure_simulator(
            "seed",
            &seed.to_string()
        ));
        launch(exec, stream);
        let mut expected = vec![1u32; 64];
        expected.extend([2; 64]);
        assert_eq!(download::<u32>(whole, 128), expected, "seed {seed}");
    }
    assert!(warpsmith_driver::configure_simulator("seed", "0"));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}
