//! Adding nodes of every kind, and their parameters.

use std::sync::{Arc, Mutex};

use super::entry::*;
use super::graph::dependency_list;
use super::launch::{self, prepare};
use crate::context::{Context, current};
use crate::device_runtime::conditions;
use crate::graph::{Conditional, ConditionalKind, GRAPHS, Graph, NODES, Node, NodeOperation};
use crate::memory::{Fill, Transfer};
use crate::module::FUNCTIONS;
use crate::streams::{EVENTS, HostCall, Launch, LaunchShape, Operation};
use crate::sync::lock;

driver_calls! {
    Ready fn cuGraphAddEmptyNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, Operation::Empty)?;
    }

    Ready fn cuGraphAddKernelNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        let operation = kernel(parameters(nodeParams)?, None)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddKernelNode_v2(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        // The second version only adds fields at the end.
        let operation = kernel(parameters(nodeParams.cast::<CUDA_KERNEL_NODE_PARAMS_v1>())?, None)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddMemcpyNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext,
    ) {
        check_context(ctx)?;
        let operation = Operation::Copy(Transfer::three_dimensional(parameters(copyParams)?)?);
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddMemsetNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext,
    ) {
        check_context(ctx)?;
        let operation = memset(parameters(memsetParams)?)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddHostNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_HOST_NODE_PARAMS,
    ) {
        let operation = host(parameters(nodeParams)?)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddChildGraphNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        childGraph: CUgraph,
    ) {
        let operation = child(childGraph, Some(hGraph))?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddEventRecordNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        event: CUevent,
    ) {
        let operation = Operation::EventRecord(EVENTS.get(event)?);
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddEventWaitNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        event: CUevent,
    ) {
        let operation = Operation::EventWait(EVENTS.get(event)?);
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddMemFreeNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        dptr: CUdeviceptr,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, Operation::Free(dptr as usize))?;
    }

    Ready fn cuGraphAddNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *mut CUgraphNodeParams,
    ) {
        add_any(phGraphNode, hGraph, dependencies, core::ptr::null(), numDependencies, nodeParams)?;
    }

    Ready fn cuGraphAddNode_v2(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
        dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams,
    ) {
        add_any(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams)?;
    }

    Ready fn cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        let node = NODES.get(hNode)?;
        let given = parameters(nodeParams)?;
        match node.operation() {
            NodeOperation::Child(_) if given.type_ == CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => {
                node.set_operation(child(given.__bindgen_anon_1.graph.graph, None)?);
            }
            _ => replace(&node, from_any(given, node.single_operation().as_ref())?)?,
        }
    }

    Ready fn cuGraphKernelNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1) {
        put(nodeParams, kernel_parameters(hNode)?)?;
    }

    Ready fn cuGraphKernelNodeGetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS) {
        let known = kernel_parameters(hNode)?;
        put(nodeParams, CUDA_KERNEL_NODE_PARAMS {
            func: known.func,
            gridDimX: known.gridDimX,
            gridDimY: known.gridDimY,
            gridDimZ: known.gridDimZ,
            blockDimX: known.blockDimX,
            blockDimY: known.blockDimY,
            blockDimZ: known.blockDimZ,
            sharedMemBytes: known.sharedMemBytes,
            kernelParams: known.kernelParams,
            extra: known.extra,
            ..Default::default()
        })?;
    }

    Ready fn cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        let node = NODES.get(hNode)?;
        replace(&node, kernel(parameters(nodeParams)?, node.single_operation().as_ref())?)?;
    }

    Ready fn cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        let node = NODES.get(hNode)?;
        let parameters = parameters(nodeParams.cast::<CUDA_KERNEL_NODE_PARAMS_v1>())?;
        replace(&node, kernel(parameters, node.single_operation().as_ref())?)?;
    }

    Ready fn cuGraphKernelNodeSetAttribute(
        hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue,
    ) {
        let node = NODES.get(hNode)?;
        let Some(Operation::Kernel(launch)) = node.single_operation() else { return Err(code::INVALID_VALUE) };
        let value = parameters(value)?;
        let attribute = CUlaunchAttribute { id: attr, value: *value, ..Default::default() };
        let mut shape = launch.shape;
        launch::apply(&mut shape, &attribute)?;
        let shape = shape.check(&launch.function)?;
        node.set_operation(NodeOperation::Single(Operation::Kernel(Launch { shape, ..launch })));
    }

    Ready fn cuGraphKernelNodeGetAttribute(
        hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue,
    ) {
        let Some(Operation::Kernel(launch)) = NODES.get(hNode)?.single_operation() else {
            return Err(code::INVALID_VALUE);
        };
        let mut value = CUkernelNodeAttrValue::default();
        match attr {
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => value.cooperative = c_int::from(launch.shape.cooperative),
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                let [x, y, z] = launch.shape.cluster;
                value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            }
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY => value.priority = 0,
            _ => return Err(code::NOT_SUPPORTED),
        }
        put(value_out, value)?;
    }

    Ready fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) {
        let (to, from) = (NODES.get(dst)?, NODES.get(src)?);
        let (Some(Operation::Kernel(old)), Some(Operation::Kernel(model))) = (to.single_operation(), from.single_operation()) else {
            return Err(code::INVALID_VALUE);
        };
        let shape = LaunchShape { cluster: model.shape.cluster, cooperative: model.shape.cooperative, ..old.shape };
        let shape = shape.check(&old.function)?;
        to.set_operation(NodeOperation::Single(Operation::Kernel(Launch { shape, ..old })));
    }

    Ready fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::Copy(copy)) => put(nodeParams, copy.parameters())?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D) {
        let copy = Transfer::three_dimensional(parameters(nodeParams)?)?;
        replace(&*NODES.get(hNode)?, Operation::Copy(copy))?;
    }

    Ready fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::Fill(fill)) => put(nodeParams, CUDA_MEMSET_NODE_PARAMS {
                dst: fill.address as CUdeviceptr,
                pitch: fill.pitch,
                value: fill.value,
                elementSize: fill.element as c_uint,
                width: fill.width,
                height: fill.height,
            })?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS) {
        replace(&*NODES.get(hNode)?, memset(parameters(nodeParams)?)?)?;
    }

    Ready fn cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::Host(call)) => put(nodeParams, CUDA_HOST_NODE_PARAMS { fn_: call.function, userData: call.data })?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        replace(&*NODES.get(hNode)?, host(parameters(nodeParams)?)?)?;
    }

    Ready fn cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::EventRecord(event)) => put(event_out, event.handle as CUevent)?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::EventWait(event)) => put(event_out, event.handle as CUevent)?,
            _ => return Err(code::INVALID_VALUE),
        }
    }
}

fn check_context(handle: CUcontext) -> Result {
    if handle.is_null() {
        current().map(drop)
    } else {
        Context::of_handle(handle)?.check()
    }
}

/// Changes what a node does to another operation of the same type.
fn replace(node: &Node, operation: Operation) -> Result {
    let fits = node
        .single_operation()
        .is_some_and(|old| core::mem::discriminant(&old) == core::mem::discriminant(&operation));
    if !fits {
        return Err(code::INVALID_VALUE);
    }
    node.set_operation(NodeOperation::Single(operation));
    Ok(())
}

/// # Safety
///
/// `to` is null or valid for writing; `after` is null or valid for `count` entries.
unsafe fn add(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    operation: impl Into<NodeOperation>,
) -> Result {
    let graph = GRAPHS.get(graph)?;
    if to.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: `after` has `count` entries and `to`, which is not null, is valid for writing by the caller's contract.
    unsafe {
        let after = dependency_list(after, core::ptr::null(), count)?;
        to.write(graph.add(&after, operation.into())?.handle as CUgraphNode);
    }
    Ok(())
}

/// # Safety
///
/// `to` is null or valid for writing, `after` and `data` are null or valid for `count` entries, and `parameters` is null or valid, with
/// a union that holds what its type field says.
unsafe fn add_any(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
    parameters: *mut CUgraphNodeParams,
) -> Result {
    let found = GRAPHS.get(graph)?;
    // SAFETY: the arrays have `count` entries and `to` and `parameters` are null or valid by the caller's contract; the union is read as
    // its type field says.
    unsafe {
        let given = parameters.as_mut().ok_or(code::INVALID_VALUE)?;
        let after = dependency_list(after, data, count)?;
        if to.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let operation = match given.type_ {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => {
                let conditional = &mut given.__bindgen_anon_1.conditional;
                let operation = new_conditional(conditional)?;
                if let NodeOperation::Conditional(made) = &operation {
                    conditional.phGraph_out = lend_bodies(&made.bodies);
                }
                operation
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => {
                child(given.__bindgen_anon_1.graph.graph, Some(graph))?
            }
            _ => NodeOperation::Single(from_any(given, None)?),
        };
        to.write(found.add(&after, operation)?.handle as CUgraphNode);
    }
    Ok(())
}

/// The operation that generic parameters describe. `old` is what the node did before, for what they may leave out.
///
/// # Safety
///
/// The union holds what its type field says.
pub(super) unsafe fn from_any(
    given: &CUgraphNodeParams,
    old: Option<&Operation>,
) -> Result<Operation> {
    let union = &given.__bindgen_anon_1;
    // SAFETY: the union holds what its type field says by the caller's contract. Later versions of the parameter structures start with
    // the fields of the first, so that they may be read as such.
    unsafe {
        Ok(match given.type_ {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY => Operation::Empty,
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => {
                let parameters = &raw const union.kernel;
                kernel(&*parameters.cast::<CUDA_KERNEL_NODE_PARAMS_v1>(), old)?
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY => {
                Operation::Copy(Transfer::three_dimensional(&union.memcpy.copyParams)?)
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET => {
                let parameters = &raw const union.memset;
                memset(&*parameters.cast::<CUDA_MEMSET_NODE_PARAMS>())?
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST => {
                let parameters = &raw const union.host;
                host(&*parameters.cast::<CUDA_HOST_NODE_PARAMS>())?
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
                Operation::EventRecord(EVENTS.get(union.eventRecord.event)?)
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
                Operation::EventWait(EVENTS.get(union.eventWait.event)?)
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE => {
                Operation::Free(union.free.dptr as usize)
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH
            | CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => return Err(code::INVALID_VALUE),
            _ => return Err(code::NOT_SUPPORTED),
        })
    }
}

/// # Safety
///
/// The parameter pointers are valid.
pub(super) unsafe fn kernel(
    given: &CUDA_KERNEL_NODE_PARAMS_v1,
    old: Option<&Operation>,
) -> Result<Operation> {
    let function = FUNCTIONS.get(given.func)?;
    // A cluster or cooperative attribute set on the node stays through an update.
    let (cluster, cooperative) = match old {
        Some(Operation::Kernel(old)) if old.function.kernel.cluster.is_none() => {
            (old.shape.cluster, old.shape.cooperative)
        }
        _ => ([0; 3], false),
    };
    let shape = LaunchShape {
        grid: [given.gridDimX, given.gridDimY, given.gridDimZ],
        block: [given.blockDimX, given.blockDimY, given.blockDimZ],
        dynamic_shared: given.sharedMemBytes,
        cluster,
        cooperative,
    };
    // SAFETY: the parameter pointers are valid by the caller's contract.
    Ok(Operation::Kernel(unsafe {
        prepare(function, shape, given.kernelParams, given.extra)
    }?))
}

pub(super) fn memset(given: &CUDA_MEMSET_NODE_PARAMS) -> Result<Operation> {
    let fill = Fill {
        address: given.dst as usize,
        pitch: given.pitch,
        value: given.value,
        element: given.elementSize as usize,
        width: given.width,
        height: given.height,
    };
    if fill.width == 0 || fill.height == 0 || fill.is_pool_memory() {
        return Err(code::INVALID_VALUE);
    }
    Ok(Operation::Fill(fill.check()?))
}

pub(super) fn host(given: &CUDA_HOST_NODE_PARAMS) -> Result<Operation> {
    if given.fn_.is_none() {
        return Err(code::INVALID_VALUE);
    }
    Ok(Operation::Host(HostCall {
        function: given.fn_,
        data: given.userData,
    }))
}

/// A copy of a graph as one node. A graph cannot become part of itself.
fn child(graph: CUgraph, parent: Option<CUgraph>) -> Result<NodeOperation> {
    let child = GRAPHS.get(graph)?;
    if parent.is_some_and(|parent| parent == graph) {
        return Err(code::INVALID_VALUE);
    }
    Ok(NodeOperation::Child(child.duplicate(true).0))
}

fn new_conditional(given: &CUDA_CONDITIONAL_NODE_PARAMS) -> Result<NodeOperation> {
    let kind = match (given.type_, given.size) {
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF, 1 | 2) => ConditionalKind::If,
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE, 1) => ConditionalKind::While,
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH, 1..) => ConditionalKind::Switch,
        _ => return Err(code::INVALID_VALUE),
    };
    if !given.ctx.is_null() {
        check_context(given.ctx)?;
    }
    conditions::assign_to_node(given.handle)?;
    let bodies = (0..given.size).map(|_| Graph::create(true)).collect();
    Ok(NodeOperation::Conditional(Conditional {
        handle: given.handle,
        kind,
        bodies,
    }))
}

/// The handles of a conditional node's bodies, in an array that belongs to the driver for good.
fn lend_bodies(bodies: &[Arc<Graph>]) -> *mut CUgraph {
    static LENT: Mutex<Vec<Box<[usize]>>> = Mutex::new(Vec::new());
    let mut handles: Box<[usize]> = bodies.iter().map(|body| body.handle).collect();
    let address = handles.as_mut_ptr().cast();
    lock(&LENT).push(handles);
    address
}

/// A kernel node's parameters; what its pointers refer to stays valid until this thread asks again.
fn kernel_parameters(node: CUgraphNode) -> Result<CUDA_KERNEL_NODE_PARAMS_v1> {
    use std::cell::RefCell;
    thread_local! {
        static LENT: RefCell<(Option<Launch>, Vec<*mut c_void>)> = const { RefCell::new((None, Vec::new())) };
    }
    let Some(Operation::Kernel(launch)) = NODES.get(node)?.single_operation() else {
        return Err(code::INVALID_VALUE);
    };
    let base = launch.parameters.as_ptr();
    let offsets = launch
        .function
        .kernel
        .parameters
        .iter()
        .map(|parameter| parameter.offset as usize);
    let mut pointers: Vec<*mut c_void> = offsets
        .map(|offset| base.wrapping_add(offset).cast_mut().cast())
        .collect();
    let parameters = CUDA_KERNEL_NODE_PARAMS_v1 {
        func: launch.function.handle as CUfunction,
        gridDimX: launch.shape.grid[0],
        gridDimY: launch.shape.grid[1],
        gridDimZ: launch.shape.grid[2],
        blockDimX: launch.shape.block[0],
        blockDimY: launch.shape.block[1],
        blockDimZ: launch.shape.block[2],
        sharedMemBytes: launch.shape.dynamic_shared,
        kernelParams: if pointers.is_empty() {
            core::ptr::null_mut()
        } else {
            pointers.as_mut_ptr()
        },
        extra: core::ptr::null_mut(),
    };
    LENT.set((Some(launch), pointers));
    Ok(parameters)
}
