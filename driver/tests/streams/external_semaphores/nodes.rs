//! Signals and waits as nodes of graphs.

use super::*;

// covers: GRAPH-10, GRAPH-50
#[test]
fn nodes_signal_and_wait_and_never_change_their_number() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let timelines = [Timeline::new(), Timeline::new()];
    let [first, second] = [timelines[0].import(), timelines[1].import()];
    let memory = upload(&[0_u32]);
    let graph = graph();
    // The arrays are copied when the node is added.
    let waits = {
        let mut semaphores = [first];
        let given = [wait_for(1)];
        let parameters = wait_node_parameters(&mut semaphores, &given);
        get!(cuGraphAddExternalSemaphoresWaitNode(
            graph,
            core::ptr::null(),
            0,
            &parameters
        ))
    };
    let fill = fill_node(graph, &[waits], memory, 7, 1);
    let mut generic = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
        ..Default::default()
    };
    let (mut semaphores, given) = ([first, second], [signal_to(2), signal_to(1)]);
    generic.__bindgen_anon_1.extSemSignal = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 {
        extSemArray: semaphores.as_mut_ptr(),
        paramsArray: given.as_ptr(),
        numExtSems: 2,
        ..Default::default()
    };
    let signals: CUgraphNode = get!(cuGraphAddNode(graph, &fill, 1, &mut generic));
    let types = [waits, signals].map(|node| {
        let kind: CUgraphNodeType = {
            let mut kind = CUgraphNodeType(99);
            ok!(cuGraphNodeGetType(node, &mut kind));
            kind
        };
        kind.0
    });
    assert_eq!(types, [9, 8]);

    let mut told = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS::default();
    ok!(cuGraphExternalSemaphoresSignalNodeGetParams(
        signals, &mut told
    ));
    assert_eq!(told.numExtSems, 2);
    // SAFETY: the arrays are the node's, of so many entries.
    let (handles, parameters) = unsafe {
        (
            core::slice::from_raw_parts(told.extSemArray, 2),
            core::slice::from_raw_parts(told.paramsArray, 2),
        )
    };
    assert_eq!(handles, [first, second]);
    assert_eq!(parameters[0].params.fence.value, 2);
    fails!(
        1,
        cuGraphExternalSemaphoresSignalNodeGetParams(waits, &mut told)
    );

    let (exec, stream) = (instantiate(graph), stream());
    ok!(cuGraphLaunch(exec, stream));
    assert!(!is_idle(stream), "it waits");
    timelines[0].signal(1);
    ok!(cuStreamSynchronize(stream));
    assert_eq!([timelines[0].value(), timelines[1].value()], [2, 1]);
    assert_eq!(download::<u32>(memory, 1), [7]);

    // Other semaphores and values, in the executable graph; never another number.
    let fewer = signal_node_parameters(&mut semaphores[..1], &given[..1]);
    fails!(
        1,
        cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, signals, &fewer)
    );
    fails!(
        1,
        cuGraphExternalSemaphoresSignalNodeSetParams(signals, &fewer)
    );
    let (mut swapped, given) = ([second, first], [signal_to(5), signal_to(6)]);
    let other = signal_node_parameters(&mut swapped, &given);
    fails!(
        1,
        cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, waits, &other)
    );
    ok!(cuGraphExecExternalSemaphoresSignalNodeSetParams(
        exec, signals, &other
    ));
    launch(exec, stream);
    assert_eq!([timelines[0].value(), timelines[1].value()], [6, 5]);

    // In the template, for the whole update.
    let (mut one, later) = ([first], [wait_for(6)]);
    ok!(cuGraphExternalSemaphoresWaitNodeSetParams(
        waits,
        &wait_node_parameters(&mut one, &later)
    ));
    let mut told = CUDA_EXT_SEM_WAIT_NODE_PARAMS::default();
    ok!(cuGraphExternalSemaphoresWaitNodeGetParams(waits, &mut told));
    // SAFETY: the array is the node's, of one entry.
    assert_eq!(unsafe { (*told.paramsArray).params.fence.value }, 6);
    let given = [signal_to(7), signal_to(8)];
    let next = signal_node_parameters(&mut semaphores, &given);
    ok!(cuGraphExternalSemaphoresSignalNodeSetParams(signals, &next));
    let mut outcome = CUgraphExecUpdateResultInfo::default();
    ok!(cuGraphExecUpdate_v2(exec, graph, &mut outcome));
    launch(exec, stream);
    assert_eq!([timelines[0].value(), timelines[1].value()], [7, 8]);
    let exec_waits = wait_node_parameters(&mut one, &later);
    ok!(cuGraphExecExternalSemaphoresWaitNodeSetParams(
        exec,
        waits,
        &exec_waits
    ));

    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuDestroyExternalSemaphore(first));
    ok!(cuDestroyExternalSemaphore(second));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

// covers: GRAPH-50
#[test]
fn an_update_with_another_number_of_semaphores_is_refused() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let timeline = Timeline::new();
    let semaphore = timeline.import();
    let with = |count: usize| {
        let graph = graph();
        let mut semaphores = vec![semaphore; count];
        let given = vec![wait_for(0); count];
        let parameters = wait_node_parameters(&mut semaphores, &given);
        let node: CUgraphNode = get!(cuGraphAddExternalSemaphoresWaitNode(
            graph,
            core::ptr::null(),
            0,
            &parameters
        ));
        (graph, node)
    };
    let ((one, old), (two, new)) = (with(1), with(2));
    let exec = instantiate(one);
    let mut outcome = CUgraphExecUpdateResultInfo::default();
    fails!(910, cuGraphExecUpdate_v2(exec, two, &mut outcome));
    // `CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED`
    assert_eq!(outcome.result.0, 5);
    assert_eq!((outcome.errorFromNode, outcome.errorNode), (old, new));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(one));
    ok!(cuGraphDestroy(two));
    ok!(cuDestroyExternalSemaphore(semaphore));
}

// covers: GRAPH-10
#[test]
fn a_capture_makes_nodes_of_them() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let timeline = Timeline::new();
    let semaphore = timeline.import();
    let stream = stream();
    ok!(cuStreamBeginCapture_v2(
        stream,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
    wait(semaphore, 1, stream);
    signal(semaphore, 2, stream);
    let graph: CUgraph = {
        let mut graph = null_mut();
        ok!(cuStreamEndCapture(stream, &mut graph));
        graph
    };
    assert_eq!(timeline.value(), 0, "nothing has run");
    let exec = instantiate(graph);
    timeline.signal(1);
    launch(exec, stream);
    assert_eq!(timeline.value(), 2);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuDestroyExternalSemaphore(semaphore));
    ok!(cuStreamDestroy_v2(stream));
}
