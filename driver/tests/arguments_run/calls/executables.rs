//! Executable graphs: instantiation, launches, updates.

use crate::common::graphs::*;
use crate::common::*;
use crate::table::calls;
use crate::world::*;

fn instantiation() -> *mut CUDA_GRAPH_INSTANTIATE_PARAMS {
    slot(CUDA_GRAPH_INSTANTIATE_PARAMS::default())
}

fn filled(w: &World) -> *const CUDA_MEMSET_NODE_PARAMS {
    given(fill(w.own.memory + 3072, 1, 4))
}

fn copied(w: &World) -> *const CUDA_MEMCPY3D {
    given(copy(w.own.memory + 1024, w.own.memory + 2048, 64))
}

fn host() -> *mut CUgraphNodeParams {
    let mut parameters = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
        ..Default::default()
    };
    parameters.__bindgen_anon_1.host.fn_ = NOTHING;
    slot(parameters)
}

calls! { w:
    cuGraphInstantiate(out(), w.small, out(), out(), 100) 0;
    cuGraphInstantiate_v2(out(), w.small, out(), out(), 100) 0;
    cuGraphInstantiateWithFlags(out(), w.small, 0) 0;
    cuGraphInstantiateWithParams(out(), w.small, instantiation()) 0;
    cuGraphExecDestroy(instantiate(w.small)) 0;
    cuGraphExecGetFlags(w.exec, out()) 0;
    cuGraphUpload(w.exec, w.own.stream) 0;
    cuGraphLaunch(w.exec, w.own.stream) 0;
    cuGraphExecUpdate(w.exec, w.graph, out(), out()) 0;
    cuGraphExecUpdate_v2(w.exec, w.graph, out()) 0;
    cuGraphExecNodeSetParams(w.exec, w.nodes.host, host()) 0;
    cuGraphExecKernelNodeSetParams(w.exec, w.nodes.kernel, first_kernel_node_parameters(&w.own)) 0;
    cuGraphExecKernelNodeSetParams_v2(w.exec, w.nodes.kernel, kernel_node_parameters(&w.own)) 0;
    cuGraphExecMemcpyNodeSetParams(w.exec, w.nodes.copy, copied(w), w.own.context) 0;
    cuGraphExecMemsetNodeSetParams(w.exec, w.nodes.fill, filled(w), w.own.context) 0;
    cuGraphExecHostNodeSetParams(w.exec, w.nodes.host, host_parameters()) 0;
    cuGraphExecChildGraphNodeSetParams(w.exec, w.nodes.child, w.small) 0;
    cuGraphExecEventRecordNodeSetEvent(w.exec, w.nodes.record, w.own.event) 0;
    cuGraphExecEventWaitNodeSetEvent(w.exec, w.nodes.wait, w.own.event) 0;
    cuGraphExecBatchMemOpNodeSetParams(w.exec, w.nodes.batch, batch_parameters(&w.own)) 0;
    cuGraphNodeGetEnabled(w.exec, w.nodes.kernel, out()) 0;
    cuGraphNodeSetEnabled(w.exec, w.nodes.kernel, 1) 0;
}
