//! Programmatic dependent launch: grids, events and edges.

use super::*;

/// Blocks of the grids below.
const BLOCKS: c_uint = 8;

#[test]
fn a_dependent_grid_sees_what_it_waits_for() {
    // covers: PDL-01, PDL-02, PDL-03, PDL-04
    let _turn = turn();
    gpu();
    let (primary, dependent) = (function(c"primary"), function(c"dependent"));
    let stream = stream();
    for attributes in [&mut [][..], &mut [early()][..]] {
        let (words, sums) = (upload(&[0_u32; 8]), upload(&[0_u32; 8]));
        for round in 1..=10 {
            launch(primary, BLOCKS, stream, &mut [words, 1], attributes);
            launch(dependent, BLOCKS, stream, &mut [words, sums], attributes);
            if round % 4 == 0 {
                // Something else between, which nothing overtakes.
                ok!(cuMemsetD32Async(words, round, 8, stream));
            }
        }
        ok!(cuStreamSynchronize(stream));
        // 1, 2, 3, 4, then 4 + 1 ... 4 + 4, then 8 + 1, 8 + 2.
        assert_eq!(download::<u32>(sums, 8), [55; 8]);
        assert_eq!(download::<u32>(words, 8), [10; 8]);
        ok!(cuMemFree_v2(words));
        ok!(cuMemFree_v2(sums));
    }
    ok!(cuStreamDestroy_v2(stream));
}

/// Two grids that each wait for the other run only where the second begins early, which no driver promises.
#[test]
fn the_simulator_begins_a_dependent_grid_as_early_as_it_may() {
    // covers: PDL-01, PDL-04
    if let Side::Parent(_) = own_process(&[("WARPSMITH_DEVICE", "simulator")]) {
        return;
    }
    let _turn = turn();
    gpu();
    let (meet, greet) = (function(c"meet"), function(c"greet"));
    let stream = stream();
    let word = upload(&[0_u32]);
    for _ in 0..20 {
        ok!(cuMemsetD32Async(word, 0, 1, stream));
        launch(meet, 4, stream, &mut [word], &mut []);
        launch(greet, 1, stream, &mut [word], &mut [early()]);
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(word, 1), [1]);
}

/// With room for one grid it begins as late as it may: two grids that each wait for the other are a deadlock.
#[test]
fn the_simulator_finds_grids_that_count_on_overlap() {
    // covers: PDL-04
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_GRIDS", "1"),
        ("WARPSMITH_PATIENCE", "1"),
    ];
    if let Side::Parent(_) = own_process(&variables) {
        return;
    }
    let _turn = turn();
    gpu();
    let (meet, greet) = (function(c"meet"), function(c"greet"));
    let stream = stream();
    let word = upload(&[0_u32]);
    launch(meet, 4, stream, &mut [word], &mut []);
    launch(greet, 1, stream, &mut [word], &mut [early()]);
    // SAFETY: the stream is alive.
    let answer = unsafe { cuStreamSynchronize(stream) };
    assert_ne!(answer.0, 0, "the deadlock is reported");
}

#[test]
fn a_dependent_of_a_grid_that_fails_ends_with_it() {
    // covers: PDL-02
    if let Side::Parent(_) = own_process(&[]) {
        return;
    }
    let _turn = turn();
    gpu();
    let (fail, dependent) = (function(c"fail"), function(c"dependent"));
    let stream = stream();
    let (words, sums) = (upload(&[1_u32; 8]), upload(&[0_u32; 8]));
    launch(fail, 1, stream, &mut [], &mut []);
    // The fault may be known already.
    let answer = try_launch(
        dependent,
        BLOCKS,
        stream,
        &mut [words, sums],
        &mut [early()],
    );
    assert!(matches!(answer, 0 | 700), "{answer}");
    fails!(700, cuStreamSynchronize(stream));
}

#[test]
fn an_event_tells_that_all_blocks_have_begun() {
    // covers: PDL-05
    let _turn = turn();
    gpu();
    let (hold, event, stream) = (function(c"hold"), untimed(), stream());
    let flag = Flag::new();
    launch(
        hold,
        BLOCKS,
        stream,
        &mut [flag.address()],
        &mut [completion_event(event)],
    );
    // A driver may let it complete with the grid: best effort.
    let deadline = Instant::now() + Duration::from_millis(500);
    let mut begun = false;
    while !begun && Instant::now() < deadline {
        // SAFETY: the event is alive.
        begun = unsafe { cuEventQuery(event) }.0 == 0;
    }
    fails!(600, cuStreamQuery(stream));
    // SAFETY: page-locked memory of this size, aligned, which lives for the test.
    let word = unsafe { std::sync::atomic::AtomicU32::from_ptr(flag.address() as *mut u32) };
    word.store(1, std::sync::atomic::Ordering::SeqCst);
    ok!(cuEventSynchronize(event));
    ok!(cuStreamSynchronize(stream));
    let simulated = gpu() == Backend::Simulator;
    assert!(begun || !simulated, "the simulator tells at once");
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_programmatic_event_orders_streams() {
    // covers: PDL-05
    let _turn = turn();
    gpu();
    let (primary, dependent) = (function(c"primary"), function(c"dependent"));
    let (one, other, event) = (stream(), stream(), untimed());
    let (words, sums) = (upload(&[0_u32; 8]), upload(&[0_u32; 8]));
    for at_block_start in [0, 1] {
        let mut attributes = [programmatic_event(event, at_block_start)];
        launch(primary, BLOCKS, one, &mut [words, 1], &mut attributes);
        ok!(cuStreamWaitEvent(other, event, 0));
        launch(dependent, BLOCKS, other, &mut [words, sums], &mut []);
        ok!(cuStreamSynchronize(other));
        ok!(cuStreamSynchronize(one));
    }
    assert_eq!(download::<u32>(sums, 8), [3; 8]);
    let timed: CUevent = get!(cuEventCreate(0));
    for bad in [programmatic_event(timed, 0), completion_event(timed)] {
        let answer = try_launch(primary, BLOCKS, one, &mut [words, 1], &mut [bad]);
        assert_eq!(answer, expected::TIMED_EVENT, "attribute {}", bad.id.0);
    }
    for memory in [words, sums] {
        ok!(cuMemFree_v2(memory));
    }
    for event in [event, timed] {
        ok!(cuEventDestroy_v2(event));
    }
    for stream in [one, other] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn captured_dependencies_are_programmatic_edges() {
    // covers: PDL-06, GRAPH-15, GRAPH-16, GRAPH-17, EX1-22
    let _turn = turn();
    gpu();
    let (primary, dependent) = (function(c"primary"), function(c"dependent"));
    let (one, other, event) = (stream(), stream(), untimed());
    let (words, sums) = (upload(&[0_u32; 8]), upload(&[0_u32; 8]));
    // In one stream.
    begin(one);
    launch(primary, BLOCKS, one, &mut [words, 1], &mut []);
    launch(dependent, BLOCKS, one, &mut [words, sums], &mut [early()]);
    let serial = end(one);
    assert_eq!(edges(serial), [(1, 1)]);
    let (mut from, mut to, mut count) = (null_mut(), null_mut(), 1);
    fails!(402, cuGraphGetEdges(serial, &mut from, &mut to, &mut count));
    // The number alone drops nothing.
    let mut count = 0;
    let none = null_mut();
    ok!(cuGraphGetEdges_v2(
        serial,
        null_mut(),
        null_mut(),
        none,
        &mut count
    ));
    assert_eq!(count, 1);
    run(serial, one);
    assert_eq!(download::<u32>(sums, 8), [1; 8]);
    ok!(cuGraphDestroy(serial));
    // From stream to stream.
    for (attribute, edge) in [
        (programmatic_event(event, 0), (1, 1)),
        (programmatic_event(event, 1), (1, 2)),
        (completion_event(event), expected::STARTED_EDGE),
    ] {
        begin(one);
        launch(primary, BLOCKS, one, &mut [words, 1], &mut [attribute]);
        ok!(cuStreamWaitEvent(other, event, 0));
        launch(dependent, BLOCKS, other, &mut [words, sums], &mut []);
        let joined = untimed();
        ok!(cuEventRecord(joined, other));
        ok!(cuStreamWaitEvent(one, joined, 0));
        // A node after both streams, as a capture ends with all joined.
        ok!(cuMemsetD32Async(words, 0, 8, one));
        let graph = end(one);
        assert!(edges(graph).contains(&edge), "{:?}", edges(graph));
        ok!(cuGraphDestroy(graph));
        ok!(cuEventDestroy_v2(joined));
    }
    for memory in [words, sums] {
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuEventDestroy_v2(event));
    for stream in [one, other] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn programmatic_edges_can_be_given_and_taken() {
    // covers: PDL-06, GRAPH-14, GRAPH-16
    let _turn = turn();
    gpu();
    let (primary, dependent) = (function(c"primary"), function(c"dependent"));
    let stream = stream();
    let (words, sums) = (upload(&[0_u32; 8]), upload(&[0_u32; 8]));
    let graph: CUgraph = get!(cuGraphCreate(0));
    let node = |function, values: &mut [u64]| {
        let mut pointers: Vec<*mut c_void> = values
            .iter_mut()
            .map(|value| core::ptr::from_mut(value).cast())
            .collect();
        let parameters = CUDA_KERNEL_NODE_PARAMS {
            func: function,
            gridDimX: BLOCKS,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            kernelParams: pointers.as_mut_ptr(),
            ..CUDA_KERNEL_NODE_PARAMS::default()
        };
        let mut node = null_mut();
        ok!(cuGraphAddKernelNode_v2(
            &mut node,
            graph,
            null(),
            0,
            &parameters
        ));
        node
    };
    let from = node(primary, &mut [words, 4]);
    let to = node(dependent, &mut [words, sums]);
    let edge = |from_port, to_port, type_| CUgraphEdgeData {
        from_port,
        to_port,
        type_,
        reserved: [0; 5],
    };
    for bad in [edge(0, 0, 1), edge(3, 0, 1), edge(1, 1, 1), edge(0, 0, 9)] {
        fails!(1, cuGraphAddDependencies_v2(graph, &from, &to, &bad, 1));
    }
    for port in [2, 1] {
        let good = edge(port, 0, 1);
        ok!(cuGraphAddDependencies_v2(graph, &from, &to, &good, 1));
        assert_eq!(edges(graph), [(1, port)]);
        if port == 2 {
            ok!(cuGraphRemoveDependencies_v2(graph, &from, &to, &good, 1));
            assert_eq!(edges(graph), []);
        }
    }
    run(graph, stream);
    assert_eq!(download::<u32>(sums, 8), [4; 8]);
    ok!(cuGraphDestroy(graph));
    for memory in [words, sums] {
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuStreamDestroy_v2(stream));
}
