//! Nodes of graphs: added to a graph, asked and changed.

use crate::common::graphs::*;
use crate::common::*;
use crate::table::calls;
use crate::world::*;

/// A graph of one call, of one node, which `before` tells.
pub(super) fn fresh() -> CUgraph {
    let graph = graph();
    BEFORE.set(given(empty_node(graph)));
    graph
}

pub(super) fn before() -> *const CUgraphNode {
    BEFORE.get()
}

thread_local! {
    static BEFORE: std::cell::Cell<*const CUgraphNode> = const { std::cell::Cell::new(null()) };
}

/// A graph with an allocation, the node of which `before` tells.
fn allocating() -> CUgraph {
    let graph = graph();
    let mut wish = allocation();
    BEFORE.set(given(get!(cuGraphAddMemAllocNode(
        graph,
        null(),
        0,
        &mut wish
    ))));
    ADDRESS.set(wish.dptr);
    graph
}

fn address() -> CUdeviceptr {
    ADDRESS.get()
}

thread_local! {
    static ADDRESS: std::cell::Cell<CUdeviceptr> = const { std::cell::Cell::new(0) };
}

fn any() -> *mut CUgraphNodeParams {
    slot(CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY,
        ..Default::default()
    })
}

fn host() -> *mut CUgraphNodeParams {
    let mut parameters = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
        ..Default::default()
    };
    parameters.__bindgen_anon_1.host.fn_ = NOTHING;
    slot(parameters)
}

fn filled(w: &World) -> *const CUDA_MEMSET_NODE_PARAMS {
    given(fill(w.own.memory + 3072, 1, 4))
}

fn copied(w: &World) -> *const CUDA_MEMCPY3D {
    given(copy(w.own.memory + 1024, w.own.memory + 2048, 64))
}

const PRIORITY: CUkernelNodeAttrID = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;

calls! { w:
    cuGraphAddNode(out(), fresh(), before(), 1, any()) 0;
    cuGraphAddNode_v2(out(), fresh(), before(), null(), 1, any()) 0;
    cuGraphAddEmptyNode(out(), fresh(), before(), 1) 0;
    cuGraphAddKernelNode(out(), fresh(), before(), 1, first_kernel_node_parameters(&w.own)) 0;
    cuGraphAddKernelNode_v2(out(), fresh(), before(), 1, kernel_node_parameters(&w.own)) 0;
    cuGraphAddMemcpyNode(out(), fresh(), before(), 1, copied(w), w.own.context) 0;
    cuGraphAddMemsetNode(out(), fresh(), before(), 1, filled(w), w.own.context) 0;
    cuGraphAddHostNode(out(), fresh(), before(), 1, host_parameters()) 0;
    cuGraphAddEventRecordNode(out(), fresh(), before(), 1, w.own.event) 0;
    cuGraphAddEventWaitNode(out(), fresh(), before(), 1, w.own.event) 0;
    cuGraphAddChildGraphNode(out(), fresh(), before(), 1, w.small) 0;
    cuGraphAddBatchMemOpNode(out(), fresh(), before(), 1, batch_parameters(&w.own)) 0;
    cuGraphAddMemAllocNode(out(), fresh(), before(), 1, slot(allocation())) 0;
    cuGraphAddMemFreeNode(out(), allocating(), before(), 1, address()) 0;
    cuGraphNodeSetParams(w.nodes.host, host()) 0;
    cuGraphKernelNodeGetParams(w.nodes.kernel, out()) 0;
    cuGraphKernelNodeSetParams(w.nodes.kernel, first_kernel_node_parameters(&w.own)) 0;
    cuGraphKernelNodeGetParams_v2(w.nodes.kernel, out()) 0;
    cuGraphKernelNodeSetParams_v2(w.nodes.kernel, kernel_node_parameters(&w.own)) 0;
    cuGraphKernelNodeGetAttribute(w.nodes.kernel, PRIORITY, out()) 0;
    cuGraphKernelNodeSetAttribute(w.nodes.kernel, PRIORITY, given(CUkernelNodeAttrValue::default())) 0;
    cuGraphKernelNodeCopyAttributes(w.nodes.kernel, w.nodes.kernel) 0;
    cuGraphMemcpyNodeGetParams(w.nodes.copy, out()) 0;
    cuGraphMemcpyNodeSetParams(w.nodes.copy, copied(w)) 0;
    cuGraphMemsetNodeGetParams(w.nodes.fill, out()) 0;
    cuGraphMemsetNodeSetParams(w.nodes.fill, filled(w)) 0;
    cuGraphHostNodeGetParams(w.nodes.host, out()) 0;
    cuGraphHostNodeSetParams(w.nodes.host, host_parameters()) 0;
    cuGraphEventRecordNodeGetEvent(w.nodes.record, out()) 0;
    cuGraphEventRecordNodeSetEvent(w.nodes.record, w.own.event) 0;
    cuGraphEventWaitNodeGetEvent(w.nodes.wait, out()) 0;
    cuGraphEventWaitNodeSetEvent(w.nodes.wait, w.own.event) 0;
    cuGraphBatchMemOpNodeGetParams(w.nodes.batch, out()) 0;
    cuGraphBatchMemOpNodeSetParams(w.nodes.batch, batch_parameters(&w.own)) 0;
    cuGraphMemAllocNodeGetParams(w.allocate, out()) 0;
    cuGraphMemFreeNodeGetParams(w.free, out()) 0;
}
