//! How the nodes are made, and what graphs with them cannot do.

use super::*;
use crate::common::graphs::fill_node;

#[test]
fn a_graph_allocates_uses_and_frees() {
    // covers: GMEM-01, GMEM-02, GMEM-03, GMEM-05, GMEM-11, GMEM-15
    let _turn = turn();
    gpu();
    assert!(get!(cuDriverGetVersion()) >= 11040);
    let kernels = Kernels::load();
    let (graph, stream, result) = (graph(), stream(), upload(&[0u32; 4]));
    let (first, memory) = allocate(graph, &[], BYTES);
    let a = kernel(graph, &[first], kernels.set, memory);
    let b = kernel(graph, &[a], kernels.add, memory);
    let c = copy_node(graph, &[b], result, memory, 16);
    let last = free(graph, &[c], memory);
    assert_eq!(freed_by(last), memory);
    // SAFETY: the structure is valid as zeros.
    let mut told: CUDA_MEM_ALLOC_NODE_PARAMS = unsafe { core::mem::zeroed() };
    ok!(cuGraphMemAllocNodeGetParams(first, &mut told));
    assert_eq!((told.dptr, told.bytesize), (memory, BYTES));
    assert_eq!(
        told.poolProps.location.type_,
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE
    );
    fails!(1, cuGraphMemAllocNodeGetParams(last, &mut told));
    let types = [first, last].map(type_of);
    assert_eq!(
        types,
        [
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE
        ]
    );
    let exec = instantiate(graph);
    for _ in 0..100 {
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
fn generic_parameters_make_the_same_nodes() {
    // covers: GMEM-02, GMEM-03
    let _turn = turn();
    gpu();
    let (graph, stream) = (graph(), stream());
    let mut wish = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        ..Default::default()
    };
    let plain = parameters(BYTES);
    wish.__bindgen_anon_1.alloc = CUDA_MEM_ALLOC_NODE_PARAMS_v2 {
        poolProps: plain.poolProps,
        accessDescs: null(),
        accessDescCount: 0,
        bytesize: BYTES,
        dptr: 0,
    };
    let mut node = null_mut();
    ok!(cuGraphAddNode_v2(
        &mut node,
        graph,
        null(),
        null(),
        0,
        &mut wish
    ));
    // SAFETY: the driver has written the parameters of this type.
    let dptr = unsafe { wish.__bindgen_anon_1.alloc.dptr };
    assert_ne!(dptr, 0);
    let mut wish = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE,
        ..Default::default()
    };
    wish.__bindgen_anon_1.free = CUDA_MEM_FREE_NODE_PARAMS { dptr };
    let mut last = null_mut();
    ok!(cuGraphAddNode_v2(
        &mut last,
        graph,
        &node,
        null(),
        1,
        &mut wish
    ));
    assert_eq!(freed_by(last), dptr);
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn parameters_that_are_none_are_refused() {
    // covers: GMEM-02, GMEM-03
    let _turn = turn();
    gpu();
    let graph = graph();
    let mut node = null_mut();
    let mut unpinned = parameters(BYTES);
    unpinned.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_INVALID;
    let mut nothing = parameters(0);
    for wish in [&mut unpinned, &mut nothing] {
        fails!(
            refusal::PARAMETERS,
            cuGraphAddMemAllocNode(&mut node, graph, null(), 0, wish)
        );
    }
    let (first, memory) = allocate(graph, &[], BYTES);
    free(graph, &[first], memory);
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(64));
    for address in [memory, memory + 16, plain, 0x1234] {
        fails!(
            refusal::FREE_NODE,
            cuGraphAddMemFreeNode(&mut node, graph, &first, 1, address)
        );
    }
    ok!(cuMemFree_v2(plain));
    ok!(cuGraphDestroy(graph));
}

#[test]
fn a_capture_makes_the_same_nodes() {
    // covers: GMEM-06, GMEM-23
    let _turn = turn();
    gpu();
    let kernels = Kernels::load();
    let (one, two, result) = (stream(), stream(), upload(&[0u32; 4]));
    let pool: CUmemoryPool = get!(cuDeviceGetDefaultMemPool(0));
    let used = || {
        let mut value = 0u64;
        let key = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
        ok!(cuMemPoolGetAttribute(pool, key, (&raw mut value).cast()));
        value
    };
    let before = used();
    let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    ok!(cuStreamBeginCapture_v2(one, relaxed));
    let memory: CUdeviceptr = get!(cuMemAllocAsync(BYTES, one));
    let from_pool: CUdeviceptr = get!(cuMemAllocFromPoolAsync(BYTES, pool, one));
    launch_kernel(kernels.set, memory, one);
    let (fork, join): (CUevent, CUevent) = (get!(cuEventCreate(2)), get!(cuEventCreate(2)));
    ok!(cuEventRecord(fork, one));
    ok!(cuStreamWaitEvent(two, fork, 0));
    launch_kernel(kernels.add, memory, two);
    ok!(cuMemsetD32Async(from_pool, 3, 4, one));
    ok!(cuEventRecord(join, two));
    ok!(cuStreamWaitEvent(one, join, 0));
    ok!(cuMemcpyDtoDAsync_v2(result, memory, 16, one));
    ok!(cuMemFreeAsync(from_pool, one));
    ok!(cuMemFreeAsync(memory, one));
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(one, &mut graph));
    assert_eq!(used(), before, "the pool has nothing to do with it");
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
    let mut nodes = vec![null_mut(); count];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    let of_type = |wanted| {
        nodes
            .iter()
            .filter(|&&node| type_of(node) == wanted)
            .count()
    };
    assert_eq!(of_type(CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC), 2);
    assert_eq!(of_type(CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE), 2);
    assert_eq!(of_type(CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL), 2);
    let exec = instantiate(graph);
    for _ in 0..3 {
        ok!(cuGraphLaunch(exec, one));
    }
    ok!(cuStreamSynchronize(one));
    assert_eq!(download::<u32>(result, 1), [6]);
    assert_eq!(used(), before);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    for event in [fork, join] {
        ok!(cuEventDestroy_v2(event));
    }
    ok!(cuMemFree_v2(result));
    for stream in [one, two] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn a_graph_with_memory_nodes_has_limits() {
    // covers: GMEM-14
    let _turn = turn();
    gpu();
    let stream = stream();
    let own = graph();
    let (node, memory) = allocate(own, &[], BYTES);
    let middle: CUgraphNode = get!(cuGraphAddEmptyNode(own, &node, 1));
    let last = free(own, &[middle], memory);
    let mut refused = null_mut();
    fails!(refusal::CLONE, cuGraphClone(&mut refused, own));
    fails!(refusal::REMOVE_NODE, cuGraphDestroyNode(last));
    fails!(refusal::REMOVE_NODE, cuGraphDestroyNode(middle));
    fails!(
        refusal::REMOVE_EDGE,
        cuGraphRemoveDependencies(own, &middle, &last, 1)
    );
    let outer = graph();
    let mut child = null_mut();
    fails!(
        refusal::CHILD_COPY,
        cuGraphAddChildGraphNode(&mut child, outer, null(), 0, own)
    );
    let exec = instantiate(own);
    let mut second = null_mut();
    fails!(
        refusal::SECOND_INSTANCE,
        cuGraphInstantiateWithFlags(&mut second, own, 0)
    );
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
    let exec = instantiate(own);
    ok!(cuGraphExecDestroy(exec));
    for graph in [own, outer] {
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_graph_with_memory_nodes_is_moved_into_another() {
    // covers: GMEM-14
    let _turn = turn();
    gpu();
    if get!(cuDriverGetVersion()) < 12090 {
        println!("skipped: the driver cannot move graphs");
        return;
    }
    let kernels = Kernels::load();
    let (inner, outer, stream) = (graph(), graph(), stream());
    let result = upload(&[0u32; 4]);
    let (node, memory) = allocate(inner, &[], BYTES);
    let set = kernel(inner, &[node], kernels.set, memory);
    let read = copy_node(inner, &[set], result, memory, 16);
    free(inner, &[read], memory);
    let mut wish = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
        ..Default::default()
    };
    wish.__bindgen_anon_1.graph = CUDA_CHILD_GRAPH_NODE_PARAMS {
        graph: inner,
        ownership: CUgraphChildGraphNodeOwnership::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE,
    };
    let mut child = null_mut();
    ok!(cuGraphAddNode_v2(
        &mut child,
        outer,
        null(),
        null(),
        0,
        &mut wish
    ));
    let exec = instantiate(outer);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(result, 1), [5]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(outer));
    ok!(cuMemFree_v2(result));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn memory_of_a_pool_is_filled_by_nodes_of_both_kinds() {
    // covers: POOL-39
    let _turn = turn();
    gpu();
    let stream = stream();
    let pool: CUmemoryPool = get!(cuDeviceGetDefaultMemPool(0));
    let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(BYTES, pool, stream));
    ok!(cuStreamSynchronize(stream));
    let explicit = graph();
    let first = fill_node(explicit, &[], memory, 3, 4);
    fill_node(explicit, &[first], memory + 8, 4, 1);
    let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    ok!(cuStreamBeginCapture_v2(stream, relaxed));
    ok!(cuMemsetD32Async(memory + 4, 5, 1, stream));
    let mut captured = null_mut();
    ok!(cuStreamEndCapture(stream, &mut captured));
    for graph in [explicit, captured] {
        let exec = instantiate(graph);
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
    }
    assert_eq!(download::<u32>(memory, 4), [3, 5, 4, 3]);
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamDestroy_v2(stream));
}
