//! From when to when the memory is there: over launches, streams and executable graphs.

use super::*;

#[test]
fn an_allocation_outlives_its_launch_until_somebody_frees_it() {
    // covers: GMEM-07, GMEM-08, GMEM-11, GMEM-X03
    let _turn = turn();
    gpu();
    let kernels = Kernels::load();
    let stream = stream();
    let (source, memory) = producer(&kernels);
    let exec = instantiate(source);
    // By a node of another graph.
    let other = graph();
    let used = kernel(other, &[], kernels.add, memory);
    free(other, &[used], memory);
    let freeing = instantiate(other);
    fails!(refusal::FREE_BY_LAUNCH, cuGraphLaunch(freeing, stream));
    fails!(refusal::FREE, cuMemFreeAsync(memory, stream));
    fails!(refusal::FREE, cuMemFree_v2(memory));
    for way in 0..3 {
        ok!(cuGraphLaunch(exec, stream));
        fails!(refusal::RELAUNCH, cuGraphLaunch(exec, stream));
        launch_kernel(kernels.add, memory, stream);
        ok!(cuStreamSynchronize(stream));
        assert_eq!(
            download::<u32>(memory, 1),
            [6],
            "the refusal harmed nothing"
        );
        match way {
            0 => ok!(cuMemFreeAsync(memory, stream)),
            1 => ok!(cuMemFree_v2(memory)),
            _ => ok!(cuGraphLaunch(freeing, stream)),
        }
        fails!(refusal::FREE, cuMemFreeAsync(memory, stream));
    }
    ok!(cuStreamSynchronize(stream));
    for exec in [exec, freeing] {
        ok!(cuGraphExecDestroy(exec));
    }
    for graph in [source, other] {
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn what_a_graph_frees_nobody_else_can() {
    // covers: GMEM-08
    let _turn = turn();
    gpu();
    let (own, other, stream) = (graph(), graph(), stream());
    let (node, memory) = allocate(own, &[], BYTES);
    free(own, &[node], memory);
    let mut refused = null_mut();
    fails!(
        refusal::FREE_NODE,
        cuGraphAddMemFreeNode(&mut refused, other, null(), 0, memory)
    );
    let exec = instantiate(own);
    ok!(cuGraphLaunch(exec, stream));
    fails!(refusal::FREE, cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
    for graph in [own, other] {
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn three_streams_hand_an_allocation_on() {
    // covers: GMEM-07, GMEM-13, GMEM-X05
    let _turn = turn();
    gpu();
    let kernels = Kernels::load();
    let [one, two, three] = [stream(), stream(), stream()];
    let [made, used, after]: [CUevent; 3] = core::array::from_fn(|_| get!(cuEventCreate(2)));
    let result = upload(&[0u32; 4]);
    // The first graph says by an event inside that the allocation is there.
    let source = graph();
    let (node, memory) = allocate(source, &[], BYTES);
    let set = kernel(source, &[node], kernels.set, memory);
    let _: CUgraphNode = get!(cuGraphAddEventRecordNode(source, &set, 1, made));
    // The last one waits inside for the user between.
    let sink = graph();
    let wait: CUgraphNode = get!(cuGraphAddEventWaitNode(sink, null(), 0, used));
    let read = copy_node(sink, &[wait], result, memory, 16);
    free(sink, &[read], memory);
    let (first, last) = (instantiate(source), instantiate(sink));
    for _ in 0..3 {
        ok!(cuGraphLaunch(first, one));
        ok!(cuStreamWaitEvent(two, made, 0));
        launch_kernel(kernels.add, memory, two);
        ok!(cuEventRecord(used, two));
        ok!(cuGraphLaunch(last, three));
        ok!(cuEventRecord(after, three));
        ok!(cuStreamWaitEvent(one, after, 0));
    }
    ok!(cuStreamSynchronize(one));
    assert_eq!(download::<u32>(result, 1), [6]);
    for exec in [first, last] {
        ok!(cuGraphExecDestroy(exec));
    }
    for graph in [source, sink] {
        ok!(cuGraphDestroy(graph));
    }
    for event in [made, used, after] {
        ok!(cuEventDestroy_v2(event));
    }
    ok!(cuMemFree_v2(result));
    for stream in [one, two, three] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn the_next_launch_frees_what_the_last_one_left() {
    // covers: GMEM-10, GMEM-12
    let _turn = turn();
    gpu();
    let kernels = Kernels::load();
    let stream = stream();
    let (source, memory) = producer(&kernels);
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(source, AUTO_FREE));
    let mut flags = 0;
    ok!(cuGraphExecGetFlags(exec, &mut flags));
    assert_eq!(flags, AUTO_FREE);
    for _ in 0..5 {
        ok!(cuGraphLaunch(exec, stream));
        launch_kernel(kernels.add, memory, stream);
    }
    // Neither the end of the graph nor that of the executable graph frees it.
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(source));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(memory, 1), [6]);
    assert!(attribute(USED) >= BYTES as u64);
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn an_address_is_used_again_only_after_its_free() {
    // covers: GMEM-17
    let _turn = turn();
    let backend = gpu();
    let kernels = Kernels::load();
    let (graph, stream, result) = (graph(), stream(), upload(&[0u32; 4]));
    let (first, one) = allocate(graph, &[], BYTES);
    let set = kernel(graph, &[first], kernels.set, one);
    let freed = free(graph, &[set], one);
    let (beside, two) = allocate(graph, &[first], BYTES);
    let (after, three) = allocate(graph, &[freed], BYTES);
    assert_ne!(one, two, "both may live at once");
    match backend {
        Backend::Simulator => assert_eq!(one, three),
        Backend::Cuda => println!("the address is used again: {}", one == three),
    }
    let set = kernel(graph, &[after], kernels.set, three);
    let add = kernel(graph, &[set], kernels.add, three);
    let read = copy_node(graph, &[add], result, three, 16);
    free(graph, &[read], three);
    free(graph, &[beside], two);
    let exec = instantiate(graph);
    for _ in 0..3 {
        ok!(cuGraphLaunch(exec, stream));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(result, 1), [6]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuMemFree_v2(result));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn memory_of_graphs_is_counted_and_given_back() {
    // covers: GMEM-18, GMEM-20, GMEM-21, GMEM-22
    let _turn = turn();
    gpu();
    let stream = stream();
    ok!(cuCtxSynchronize());
    ok!(cuDeviceGraphMemTrim(0));
    let at_first = attribute(RESERVED);
    let graphs: Vec<_> = [1, 2, 4]
        .map(|times| {
            let graph = graph();
            let (node, memory) = allocate(graph, &[], times * 8 * BYTES);
            free(graph, &[node], memory);
            (graph, instantiate(graph))
        })
        .into();
    assert_eq!(attribute(RESERVED), at_first, "the stream is not known yet");
    ok!(cuGraphUpload(graphs[0].1, stream));
    ok!(cuStreamSynchronize(stream));
    assert!(attribute(RESERVED) >= at_first + 8 * BYTES as u64);
    for &(_, exec) in &graphs {
        ok!(cuGraphLaunch(exec, stream));
    }
    ok!(cuStreamSynchronize(stream));
    let largest = 32 * BYTES as u64;
    let reserved = attribute(RESERVED);
    assert!(reserved >= at_first + largest, "{reserved}");
    assert!(
        reserved < at_first + 7 * 8 * BYTES as u64,
        "{reserved}: graphs of one stream share"
    );
    assert!(attribute(USED) <= reserved);
    assert!(attribute(RESERVED_HIGH) >= reserved && attribute(USED_HIGH) >= attribute(USED));
    ok!(cuDeviceGraphMemTrim(0));
    assert!(attribute(RESERVED) < reserved);
    for (key, current) in [(RESERVED_HIGH, RESERVED), (USED_HIGH, USED)] {
        let mut zero = 0u64;
        ok!(cuDeviceSetGraphMemAttribute(0, key, (&raw mut zero).cast()));
        assert_eq!(attribute(key), attribute(current));
        fails!(
            refusal::SET_ATTRIBUTE,
            cuDeviceSetGraphMemAttribute(0, current, (&raw mut zero).cast())
        );
    }
    for &(_, exec) in &graphs {
        ok!(cuGraphLaunch(exec, stream));
    }
    ok!(cuStreamSynchronize(stream));
    for (graph, exec) in graphs {
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuDeviceGraphMemTrim(0));
    assert!(attribute(RESERVED) <= at_first.max(attribute(USED)));
    ok!(cuStreamDestroy_v2(stream));
}
