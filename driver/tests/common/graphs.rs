//! Graphs of few nodes: what their tests share.

use super::*;

/// An empty graph.
pub fn graph() -> CUgraph {
    get!(cuGraphCreate(0))
}

/// The parameters of a fill of `count` words.
pub fn fill(memory: CUdeviceptr, value: u32, count: usize) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS {
        dst: memory,
        pitch: 0,
        value,
        elementSize: 4,
        width: count,
        height: 1,
    }
}

pub fn fill_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    memory: CUdeviceptr,
    value: u32,
    count: usize,
) -> CUgraphNode {
    let context = get!(cuCtxGetCurrent());
    get!(cuGraphAddMemsetNode(
        graph,
        after.as_ptr(),
        after.len(),
        &fill(memory, value, count),
        context
    ))
}

/// The parameters of a copy between addresses.
pub fn copy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        srcDevice: from,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        dstDevice: to,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
        ..Default::default()
    }
}

pub fn copy_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
) -> CUgraphNode {
    let context = get!(cuCtxGetCurrent());
    get!(cuGraphAddMemcpyNode(
        graph,
        after.as_ptr(),
        after.len(),
        &copy(to, from, bytes),
        context
    ))
}

/// A node that runs a kernel of one block; each parameter has 8 bytes.
pub fn kernel_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    kernel: CUfunction,
    threads: u32,
    parameters: &[u64],
) -> CUgraphNode {
    let mut values = parameters.to_vec();
    let mut pointers = pointers_to(&mut values);
    let parameters = kernel_parameters(kernel, threads, &mut pointers);
    get!(cuGraphAddKernelNode_v2(
        graph,
        after.as_ptr(),
        after.len(),
        &parameters
    ))
}

/// Where the parameters of a kernel lie.
pub fn pointers_to(values: &mut [u64]) -> Vec<*mut c_void> {
    let values = values.iter_mut();
    values
        .map(|value| core::ptr::from_mut(value).cast())
        .collect()
}

/// The parameters of a kernel node of one block.
pub fn kernel_parameters(
    kernel: CUfunction,
    threads: u32,
    pointers: &mut [*mut c_void],
) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func: kernel,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: threads,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: pointers.as_mut_ptr(),
        ..CUDA_KERNEL_NODE_PARAMS::default()
    }
}

/// A conditional node with so many bodies, which are empty.
pub fn conditional_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    handle: CUgraphConditionalHandle,
    kind: CUgraphConditionalNodeType,
    bodies: u32,
) -> (CUgraphNode, Vec<CUgraph>) {
    let mut parameters = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        ..Default::default()
    };
    parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        type_: kind,
        size: bodies,
        phGraph_out: null_mut(),
        ctx: get!(cuCtxGetCurrent()),
    };
    let node = get!(cuGraphAddNode_v2(
        graph,
        after.as_ptr(),
        null(),
        after.len(),
        &mut parameters
    ));
    // SAFETY: the driver has filled in an array of so many graphs.
    let bodies = unsafe {
        let first = parameters.__bindgen_anon_1.conditional.phGraph_out;
        core::slice::from_raw_parts(first, bodies as usize)
    };
    (node, bodies.to_vec())
}

/// A graph that can be launched, without flags.
pub fn instantiate(graph: CUgraph) -> CUgraphExec {
    get!(cuGraphInstantiateWithFlags(graph, 0))
}

/// Launches a graph and waits for its end.
pub fn launch(exec: CUgraphExec, stream: CUstream) {
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
}

/// A node that calls [`count_up`].
pub fn host_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    counter: &'static AtomicU32,
) -> CUgraphNode {
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
