//! Memory of graphs: nodes that allocate and free.

mod checks;
mod lifetimes;
mod nodes;

use crate::common::graphs::{copy_node, graph, instantiate, kernel_node};
use crate::common::*;
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
