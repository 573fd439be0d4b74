//! Memory of graphs: nodes that allocate and free.

mod common;

use common::graphs::{copy_node, graph, instantiate, kernel_node};
use common::*;
use warpsmith_driver::fault;
use warpsmith_testkit::ptx;

/// What a driver answers to what it refuses, in one place: where its manual names no code, a run on a GPU says which one it is.
mod refusal {
    /// A launch while what the last one allocated is not freed.
    pub const RELAUNCH: u32 = 1;
    /// A second executable graph beside a living one.
    pub const SECOND_INSTANCE: u32 = 801;
    pub const CLONE: u32 = 801;
    /// As a node of another graph, by copy.
    pub const CHILD_COPY: u32 = 801;
    pub const REMOVE_NODE: u32 = 801;
    pub const REMOVE_EDGE: u32 = 801;
    /// A second free node in a graph, or one of what no node has allocated.
    pub const FREE_NODE: u32 = 1;
    /// A free of what is not allocated, or of what a node of its own graph frees.
    pub const FREE: u32 = 1;
    /// The launch of a graph that frees what another one has not allocated.
    pub const FREE_BY_LAUNCH: u32 = 1;
    /// Properties or access of an allocation node that are none.
    pub const PARAMETERS: u32 = 1;
    /// A watermark is reset, to 0, and nothing else is set.
    pub const SET_ATTRIBUTE: u32 = 1;
}

const BYTES: usize = 4 << 20;

fn parameters(bytes: usize) -> CUDA_MEM_ALLOC_NODE_PARAMS {
    CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                ..Default::default()
            },
            ..Default::default()
        },
        accessDescs: null(),
        accessDescCount: 0,
        bytesize: bytes,
        dptr: 0,
    }
}

fn allocate(graph: CUgraph, after: &[CUgraphNode], bytes: usize) -> (CUgraphNode, CUdeviceptr) {
    let mut parameters = parameters(bytes);
    let mut node = null_mut();
    ok!(cuGraphAddMemAllocNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        &mut parameters
    ));
    assert_ne!(parameters.dptr, 0, "the address is known at once");
    (node, parameters.dptr)
}

fn free(graph: CUgraph, after: &[CUgraphNode], memory: CUdeviceptr) -> CUgraphNode {
    get!(cuGraphAddMemFreeNode(
        graph,
        after.as_ptr(),
        after.len(),
        memory
    ))
}

/// The kernels of these tests, in the current context.
struct Kernels {
    /// Adds 1 to a word.
    add: CUfunction,
    /// Writes 5 to a word.
    set: CUfunction,
}

impl Kernels {
    fn load() -> Self {
        let text = ptx!(
            "7.0",
            "sm_70",
            ".visible .entry add(.param .u64 out) {
                .reg .b32 %r<2>; .reg .b64 %rd<2>;
                ld.param.u64 %rd1, [out];
                ld.global.u32 %r1, [%rd1];
                add.u32 %r1, %r1, 1;
                st.global.u32 [%rd1], %r1;
                ret;
            }
            .visible .entry set(.param .u64 out) {
                .reg .b32 %r<2>; .reg .b64 %rd<2>;
                ld.param.u64 %rd1, [out];
                mov.u32 %r1, 5;
                st.global.u32 [%rd1], %r1;
                ret;
            }\0"
        );
        let module: CUmodule = get!(cuModuleLoadData(text.as_ptr().cast()));
        Self {
            add: get!(cuModuleGetFunction(module, c"add".as_ptr())),
            set: get!(cuModuleGetFunction(module, c"set".as_ptr())),
        }
    }
}

fn kernel(
    graph: CUgraph,
    after: &[CUgraphNode],
    function: CUfunction,
    memory: CUdeviceptr,
) -> CUgraphNode {
    kernel_node(graph, after, function, 1, &[memory])
}

fn launch_kernel(function: CUfunction, memory: CUdeviceptr, stream: CUstream) {
    let mut argument = memory;
    let mut arguments: [*mut c_void; 1] = [(&raw mut argument).cast()];
    ok!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        stream,
        arguments.as_mut_ptr(),
        null_mut()
    ));
}

fn type_of(node: CUgraphNode) -> CUgraphNodeType {
    let mut found = CUgraphNodeType(0);
    ok!(cuGraphNodeGetType(node, &mut found));
    found
}

/// What a free node frees.
fn freed_by(node: CUgraphNode) -> CUdeviceptr {
    let mut memory = 0;
    ok!(cuGraphMemFreeNodeGetParams(node, &mut memory));
    memory
}

const AUTO_FREE: u64 = 1;
const USED: CUgraphMem_attribute = CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT;
const USED_HIGH: CUgraphMem_attribute = CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
const RESERVED: CUgraphMem_attribute = CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT;
const RESERVED_HIGH: CUgraphMem_attribute =
    CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;

fn attribute(key: CUgraphMem_attribute) -> u64 {
    let mut value = 0u64;
    ok!(cuDeviceGetGraphMemAttribute(
        0,
        key,
        (&raw mut value).cast()
    ));
    value
}

/// A graph that allocates, has a kernel write 5, and frees nothing.
fn producer(kernels: &Kernels) -> (CUgraph, CUdeviceptr) {
    let graph = graph();
    let (node, memory) = allocate(graph, &[], BYTES);
    kernel(graph, &[node], kernels.set, memory);
    (graph, memory)
}

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
fn an_allocation_outlives_its_launch_until_somebody_frees_it() {
    // covers: GMEM-07, GMEM-08, GMEM-11
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
    // covers: GMEM-07, GMEM-13
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

/// Runs a graph in a context of its own, which it breaks. Gives what the simulator says of it.
fn found(build: impl FnOnce(CUgraph, &Kernels)) -> String {
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (graph, stream) = (graph(), stream());
    build(graph, &Kernels::load());
    ok!(cuGraphLaunch(instantiate(graph), stream));
    fails!(700, cuStreamSynchronize(stream));
    let text = fault(context).expect("a fault").to_string();
    ok!(cuGraphDestroy(graph));
    ok!(cuCtxDestroy_v2(context));
    text
}

#[test]
fn a_node_outside_of_the_order_of_its_memory_is_found() {
    // covers: GMEM-04, GMEM-16
    let _turn = turn();
    if gpu() == Backend::Cuda {
        println!("skipped: only the simulator finds it, whichever order the nodes run in");
        return;
    }
    // Beside the free, and before the allocation.
    for is_root in [false, true] {
        let text = found(|graph, kernels| {
            let (node, memory) = allocate(graph, &[], BYTES);
            let set = kernel(graph, &[node], kernels.set, memory);
            // Others hold the free back, so that by luck all of them find the memory live.
            let late = (0..20).fold(set, |before, _| {
                kernel(graph, &[before], kernels.add, memory)
            });
            let before: &[CUgraphNode] = match is_root {
                true => &[],
                false => &[set],
            };
            kernel(graph, before, kernels.add, memory);
            free(graph, &[late], memory);
        });
        assert!(
            text.contains("no edges of the graph order this node"),
            "{text}"
        );
        assert!(
            text.contains("graph memory of cuGraphAddMemAllocNode"),
            "{text}"
        );
    }
    let text = found(|graph, kernels| {
        let (node, memory) = allocate(graph, &[], BYTES);
        let set = kernel(graph, &[node], kernels.set, memory);
        let freed = free(graph, &[set], memory);
        let (_, again) = allocate(graph, &[freed], BYTES);
        assert_eq!(again, memory);
        // Between the two allocations: the address is neither's.
        copy_node(graph, &[freed], again + 64, memory, 16);
    });
    assert!(
        text.contains("no edges of the graph order this node"),
        "{text}"
    );
}

#[test]
fn memory_outside_of_its_lifetime_is_found() {
    // covers: GMEM-05, GMEM-16
    let _turn = turn();
    if gpu() == Backend::Cuda {
        println!("skipped: only the simulator finds it; a GPU may hit what lies there by then");
        return;
    }
    for (launches, expected) in [(0, "is not allocated"), (1, "freed by a free node")] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let kernels = Kernels::load();
        let (graph, stream) = (graph(), stream());
        let (node, memory) = allocate(graph, &[], BYTES);
        let set = kernel(graph, &[node], kernels.set, memory);
        free(graph, &[set], memory);
        let exec = instantiate(graph);
        for _ in 0..launches {
            ok!(cuGraphLaunch(exec, stream));
        }
        // Another graph has the physical memory by now; the stale pointer is found all the same.
        let (second, other) = producer(&kernels);
        let holder = instantiate(second);
        ok!(cuGraphLaunch(holder, stream));
        ok!(cuStreamSynchronize(stream));
        launch_kernel(kernels.add, memory, stream);
        fails!(700, cuStreamSynchronize(stream));
        let text = fault(context).expect("a fault").to_string();
        assert!(text.contains(expected), "{text}");
        ok!(cuCtxDestroy_v2(context));
        fails!(1, cuMemFree_v2(other));
        for graph in [graph, second] {
            ok!(cuGraphDestroy(graph));
        }
    }
}

#[test]
fn a_free_that_nothing_orders_after_the_allocation_is_found() {
    // covers: GMEM-07, GMEM-16
    let _turn = turn();
    if gpu() == Backend::Cuda {
        println!("skipped: only the simulator finds it");
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (one, two) = (stream(), stream());
    let (source, memory) = producer(&Kernels::load());
    let gate = Gate::new();
    gate.block(one);
    ok!(cuGraphLaunch(instantiate(source), one));
    ok!(cuMemFreeAsync(memory, two));
    fails!(700, cuStreamSynchronize(two));
    gate.open();
    let text = fault(context).expect("a fault").to_string();
    assert!(
        text.contains("was freed while it was not allocated"),
        "{text}"
    );
    ok!(cuCtxDestroy_v2(context));
    ok!(cuGraphDestroy(source));
}

#[test]
fn contents_end_with_the_free() {
    // covers: GMEM-05
    let _turn = turn();
    if gpu() == Backend::Cuda {
        println!("skipped: what a GPU reads is not defined");
        return;
    }
    let kernels = Kernels::load();
    let (graph, stream, result) = (graph(), stream(), upload(&[9u32; 4]));
    let (node, memory) = allocate(graph, &[], BYTES);
    let read = copy_node(graph, &[node], result, memory, 16);
    let set = kernel(graph, &[read], kernels.set, memory);
    free(graph, &[set], memory);
    let exec = instantiate(graph);
    for _ in 0..2 {
        ok!(cuGraphLaunch(exec, stream));
    }
    ok!(cuStreamSynchronize(stream));
    assert_ne!(download::<u32>(result, 1), [5], "the first launch's");
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuMemFree_v2(result));
    ok!(cuStreamDestroy_v2(stream));
}
