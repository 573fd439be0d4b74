//! Graphs built by hand: nodes, edges, instantiation, launch, updates.

mod common;
use std::sync::atomic::{AtomicU32, Ordering};

use common::graphs::*;
use common::*;

fn counter() -> &'static AtomicU32 {
    Box::leak(Box::default())
}

fn host_node(graph: CUgraph, after: &[CUgraphNode], counter: &'static AtomicU32) -> CUgraphNode {
    let parameters = CUDA_HOST_NODE_PARAMS {
        fn_: Some(count_up),
        userData: core::ptr::from_ref(counter).cast_mut().cast(),
    };
    get!(cuGraphAddHostNode(
        graph,
        after.as_ptr(),
        after.len(),
        &parameters
    ))
}

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
fn conditional_bodies_run_by_their_value() {
    // covers: COND-01, COND-02, COND-04, COND-05
    let _turn = turn();
    gpu();
    let stream = stream();
    let memory = upload(&[0u32; 1]);
    for (default, expected) in [(0, 1), (1, 7)] {
        let graph = graph();
        let context = get!(cuCtxGetCurrent());
        let handle: CUgraphConditionalHandle =
            get!(cuGraphConditionalHandleCreate(graph, context, default, 1));
        let mut exec = null_mut();
        fails!(1, cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        let before = fill_node(graph, &[], memory, 1, 1);
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
        let node: CUgraphNode = get!(cuGraphAddNode_v2(
            graph,
            &before,
            null(),
            1,
            &mut parameters
        ));
        // SAFETY: the driver has filled in an array of one graph.
        let body = unsafe { *parameters.__bindgen_anon_1.conditional.phGraph_out };
        fill_node(body, &[], memory, 7, 1);
        let count = counter();
        host_node(graph, &[node], count);
        let exec = instantiate(graph);
        for launches in 1..=2 {
            launch(exec, stream);
            assert_eq!(download::<u32>(memory, 1), [expected]);
            assert_eq!(
                count.load(Ordering::SeqCst),
                launches,
                "what follows runs either way"
            );
        }
        // A handle is for one node.
        fails!(
            1,
            cuGraphAddNode_v2(&mut null_mut(), graph, null(), null(), 0, &mut parameters)
        );
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_condition_belongs_to_its_graph() {
    // covers: COND-02
    let _turn = turn();
    gpu();
    let context = get!(cuCtxGetCurrent());
    let (own, other) = (graph(), graph());
    let handle: CUgraphConditionalHandle = get!(cuGraphConditionalHandleCreate(own, context, 0, 0));
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
    let mut node = null_mut();
    fails!(
        1,
        cuGraphAddNode_v2(&mut node, other, null(), null(), 0, &mut parameters)
    );
    // A node that cannot be added takes no handle.
    let foreign: CUgraphNode = get!(cuGraphAddEmptyNode(other, null(), 0));
    fails!(
        1,
        cuGraphAddNode_v2(&mut node, own, &foreign, null(), 1, &mut parameters)
    );
    ok!(cuGraphAddNode_v2(
        &mut node,
        own,
        null(),
        null(),
        0,
        &mut parameters
    ));
    for graph in [own, other] {
        ok!(cuGraphDestroy(graph));
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
fn an_endless_loop_is_stopped_and_reported() {
    // covers: COND-06
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (graph, stream) = (graph(), stream());
    let handle: CUgraphConditionalHandle =
        get!(cuGraphConditionalHandleCreate(graph, context, 1, 1));
    let mut parameters = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        ..Default::default()
    };
    parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        type_: CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
        size: 1,
        phGraph_out: null_mut(),
        ctx: context,
    };
    let _: CUgraphNode = get!(cuGraphAddNode_v2(graph, null(), null(), 0, &mut parameters));
    let exec = instantiate(graph);
    assert!(warpsmith_driver::configure_simulator("iterations", "1000"));
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    ok!(cuGraphLaunch(exec, stream));
    fails!(702, cuStreamSynchronize(stream));
    assert!(
        warpsmith_driver::simulator_report()
            .unwrap()
            .contains("1000 passes")
    );
    let mut memory = 0;
    fails!(702, cuMemAlloc_v2(&mut memory, 16));
    ok!(cuCtxDestroy_v2(context));
    gpu();
    ok!(cuMemAlloc_v2(&mut memory, 16));
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

/// Which of the calls that free a module and an executable graph wait while a stream is held up that uses neither. The manual does not say; the
/// test tells (`--nocapture`), and holds what does not depend on it: that each is done once the stream goes on.
#[test]
fn who_waits_for_a_stream_that_is_held_up() {
    use std::sync::mpsc;
    use std::time::Duration;

    type Free = Box<dyn FnOnce() + Send>;
    /// A handle that another thread frees.
    struct Sent<T>(T);
    // SAFETY: handles of the driver may be used by any thread.
    unsafe impl<T> Send for Sent<T> {}
    impl<T> Sent<T> {
        fn get(self) -> T {
            self.0
        }
    }

    let _turn = turn();
    let backend = gpu();
    let image = format!(
        "{}.visible .entry nothing() {{ ret; }}\0",
        warpsmith_testkit::ptx!("7.8", "sm_90", "")
    );
    let module = || Sent(get!(cuModuleLoadData(image.as_ptr().cast())));
    let exec = |with_kernel: Option<CUmodule>| {
        let graph = graph();
        match with_kernel {
            None => drop(host_node(graph, &[], counter())),
            Some(module) => {
                let function = get!(cuModuleGetFunction(module, c"nothing".as_ptr()));
                let kernel = CUDA_KERNEL_NODE_PARAMS {
                    func: function,
                    gridDimX: 1,
                    gridDimY: 1,
                    gridDimZ: 1,
                    blockDimX: 1,
                    blockDimY: 1,
                    blockDimZ: 1,
                    ..CUDA_KERNEL_NODE_PARAMS::default()
                };
                get!(cuGraphAddKernelNode_v2(
                    graph,
                    core::ptr::null(),
                    0,
                    &kernel
                ));
            }
        }
        Sent(get!(cuGraphInstantiateWithFlags(graph, 0)))
    };
    let user = module();
    let frees: Vec<(&str, Free)> = {
        let (unused, of_functions, of_kernels) = (module(), exec(None), exec(Some(user.0)));
        vec![
            (
                "cuModuleUnload",
                Box::new(move || ok!(cuModuleUnload(unused.get()))),
            ),
            (
                "cuGraphExecDestroy of a host function",
                Box::new(move || ok!(cuGraphExecDestroy(of_functions.get()))),
            ),
            (
                "cuGraphExecDestroy of a kernel",
                Box::new(move || ok!(cuGraphExecDestroy(of_kernels.get()))),
            ),
        ]
    };
    for (call, free) in frees {
        let held = stream();
        let gate = Gate::new();
        gate.block(held);
        let (done, is_done) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            gpu();
            free();
            done.send(()).expect("the test waits");
        });
        let waits = is_done.recv_timeout(Duration::from_millis(500)).is_err();
        let answer = if waits { "waits for" } else { "passes" };
        println!("{backend:?}: {call} {answer} a stream that is held up");
        gate.open();
        thread
            .join()
            .expect("the call is done once the stream goes on");
        ok!(cuStreamSynchronize(held));
    }
}
