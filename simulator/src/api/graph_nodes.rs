//! Adding nodes of every kind, and their parameters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::graph::dependencies;
use super::launch::{Shape, prepare};
use super::*;
use crate::graph::{Conditional, ConditionalKind, Graph, Node, take_condition};
use crate::state::{current, lock, registries};
use crate::streams::{Fill, HostCall, Launch, Operation, Transfer};

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
        let operation = kernel(super::copy::parameters(nodeParams)?, None)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddKernelNode_v2(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        // The second version only adds fields at the end.
        let operation = kernel(super::copy::parameters(nodeParams.cast::<CUDA_KERNEL_NODE_PARAMS_v1>())?, None)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddMemcpyNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext,
    ) {
        check_context(ctx)?;
        let operation = Operation::Copy(Transfer::three_dimensional(super::copy::parameters(copyParams)?)?);
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddMemsetNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext,
    ) {
        check_context(ctx)?;
        let operation = memset(super::copy::parameters(memsetParams)?)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddHostNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_HOST_NODE_PARAMS,
    ) {
        let operation = host(super::copy::parameters(nodeParams)?)?;
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
        let operation = Operation::EventRecord(registries().events.get(event)?);
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddEventWaitNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        event: CUevent,
    ) {
        let operation = Operation::EventWait(registries().events.get(event)?);
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
        let node = registries().nodes.get(hNode)?;
        let operation = from_any(super::copy::parameters(nodeParams)?, &node.operation())?;
        replace(&node, operation)?;
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
        let node = registries().nodes.get(hNode)?;
        replace(&node, kernel(super::copy::parameters(nodeParams)?, Some(&node.operation()))?)?;
    }

    Ready fn cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        let node = registries().nodes.get(hNode)?;
        let parameters = super::copy::parameters(nodeParams.cast::<CUDA_KERNEL_NODE_PARAMS_v1>())?;
        replace(&node, kernel(parameters, Some(&node.operation()))?)?;
    }

    Ready fn cuGraphKernelNodeSetAttribute(
        hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue,
    ) {
        let node = registries().nodes.get(hNode)?;
        let Operation::Kernel(launch) = node.operation() else { return Err(code::INVALID_VALUE) };
        let value = super::copy::parameters(value)?;
        let attribute = CUlaunchAttribute { id: attr, value: *value, ..Default::default() };
        let mut shape = Shape {
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            shared: launch.shared,
            cooperative: launch.cooperative,
        };
        super::launch::apply(&mut shape, &attribute)?;
        let shape = super::launch::check(&launch.function, shape)?;
        node.set_operation(Operation::Kernel(Launch {
            cluster: shape.cluster,
            cooperative: shape.cooperative,
            ..launch
        }));
    }

    Ready fn cuGraphKernelNodeGetAttribute(
        hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue,
    ) {
        let Operation::Kernel(launch) = registries().nodes.get(hNode)?.operation() else {
            return Err(code::INVALID_VALUE);
        };
        let mut value = CUkernelNodeAttrValue::default();
        match attr {
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => value.cooperative = c_int::from(launch.cooperative),
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                let [x, y, z] = launch.cluster;
                value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            }
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY => value.priority = 0,
            _ => return Err(code::NOT_SUPPORTED),
        }
        put(value_out, value)?;
    }

    Ready fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) {
        let (to, from) = (registries().nodes.get(dst)?, registries().nodes.get(src)?);
        let (Operation::Kernel(old), Operation::Kernel(model)) = (to.operation(), from.operation()) else {
            return Err(code::INVALID_VALUE);
        };
        let shape = Shape {
            grid: old.grid,
            block: old.block,
            cluster: model.cluster,
            shared: old.shared,
            cooperative: model.cooperative,
        };
        let shape = super::launch::check(&old.function, shape)?;
        to.set_operation(Operation::Kernel(Launch { cluster: shape.cluster, cooperative: shape.cooperative, ..old }));
    }

    Ready fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D) {
        match registries().nodes.get(hNode)?.operation() {
            Operation::Copy(copy) => put(nodeParams, copy.parameters())?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D) {
        let copy = Transfer::three_dimensional(super::copy::parameters(nodeParams)?)?;
        replace(&*registries().nodes.get(hNode)?, Operation::Copy(copy))?;
    }

    Ready fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS) {
        match registries().nodes.get(hNode)?.operation() {
            Operation::Fill(fill) => put(nodeParams, CUDA_MEMSET_NODE_PARAMS {
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
        replace(&*registries().nodes.get(hNode)?, memset(super::copy::parameters(nodeParams)?)?)?;
    }

    Ready fn cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS) {
        match registries().nodes.get(hNode)?.operation() {
            Operation::Host(call) => put(nodeParams, CUDA_HOST_NODE_PARAMS { fn_: call.function, userData: call.data })?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        replace(&*registries().nodes.get(hNode)?, host(super::copy::parameters(nodeParams)?)?)?;
    }

    Ready fn cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        match registries().nodes.get(hNode)?.operation() {
            Operation::EventRecord(event) => put(event_out, event.handle as CUevent)?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        match registries().nodes.get(hNode)?.operation() {
            Operation::EventWait(event) => put(event_out, event.handle as CUevent)?,
            _ => return Err(code::INVALID_VALUE),
        }
    }
}

fn check_context(handle: CUcontext) -> Result {
    if handle.is_null() {
        current().map(drop)
    } else {
        super::context::find_context(handle)?.check()
    }
}

fn replace(node: &Node, operation: Operation) -> Result {
    let fits = core::mem::discriminant(&node.operation()) == core::mem::discriminant(&operation);
    if !fits {
        return Err(code::INVALID_VALUE);
    }
    node.set_operation(operation);
    Ok(())
}

/// # Safety
///
/// Pointers are null or valid for what they are for.
unsafe fn add(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    operation: Operation,
) -> Result {
    let graph = registries().graphs.get(graph)?;
    if to.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the caller's contract.
    unsafe {
        let after = dependencies(after, core::ptr::null(), count)?;
        to.write(graph.add(&after, operation)?.handle as CUgraphNode);
    }
    Ok(())
}

/// # Safety
///
/// Pointers are null or valid for what they are for.
unsafe fn add_any(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
    parameters: *mut CUgraphNodeParams,
) -> Result {
    let found = registries().graphs.get(graph)?;
    // SAFETY: the caller's contract; the union is read as its type field says.
    unsafe {
        let given = parameters.as_mut().ok_or(code::INVALID_VALUE)?;
        let after = dependencies(after, data, count)?;
        if to.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let operation = match given.type_ {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => {
                let conditional = &mut given.__bindgen_anon_1.conditional;
                let operation = new_conditional(conditional)?;
                if let Operation::Conditional(made) = &operation {
                    conditional.phGraph_out = lend_bodies(&made.bodies);
                }
                operation
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => {
                child(given.__bindgen_anon_1.graph.graph, Some(graph))?
            }
            _ => from_any(given, &Operation::Empty)?,
        };
        to.write(found.add(&after, operation)?.handle as CUgraphNode);
    }
    Ok(())
}

/// The operation that generic parameters describe. `old` is what the node did before, for what they may leave out.
///
/// # Safety
///
/// The union is valid as its type field says.
pub(super) unsafe fn from_any(given: &CUgraphNodeParams, old: &Operation) -> Result<Operation> {
    let union = &given.__bindgen_anon_1;
    // SAFETY: the caller's contract; the kernel's third version starts like the first, and so on.
    unsafe {
        Ok(match given.type_ {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY => Operation::Empty,
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => {
                let parameters = &raw const union.kernel;
                kernel(&*parameters.cast::<CUDA_KERNEL_NODE_PARAMS_v1>(), Some(old))?
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
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => child(union.graph.graph, None)?,
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
                Operation::EventRecord(registries().events.get(union.eventRecord.event)?)
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
                Operation::EventWait(registries().events.get(union.eventWait.event)?)
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE => {
                Operation::Free(union.free.dptr as usize)
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => return Err(code::INVALID_VALUE),
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
    let function = registries().functions.get(given.func)?;
    // A cluster or cooperative attribute set on the node stays through an update.
    let (cluster, cooperative) = match old {
        Some(Operation::Kernel(old)) if old.function.kernel.cluster.is_none() => {
            (old.cluster, old.cooperative)
        }
        _ => ([0; 3], false),
    };
    let shape = Shape {
        grid: [given.gridDimX, given.gridDimY, given.gridDimZ],
        block: [given.blockDimX, given.blockDimY, given.blockDimZ],
        shared: given.sharedMemBytes,
        cluster,
        cooperative,
    };
    // SAFETY: the caller's contract.
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
pub(super) fn child(graph: CUgraph, parent: Option<CUgraph>) -> Result<Operation> {
    let child = registries().graphs.get(graph)?;
    if parent.is_some_and(|parent| parent == graph) {
        return Err(code::INVALID_VALUE);
    }
    Ok(Operation::Child(child.duplicate(true).0))
}

fn new_conditional(given: &CUDA_CONDITIONAL_NODE_PARAMS) -> Result<Operation> {
    let kind = match (given.type_, given.size) {
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF, 1 | 2) => ConditionalKind::If,
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE, 1) => ConditionalKind::While,
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH, 1..) => ConditionalKind::Switch,
        _ => return Err(code::INVALID_VALUE),
    };
    if !given.ctx.is_null() {
        check_context(given.ctx)?;
    }
    take_condition(given.handle)?;
    let bodies = (0..given.size).map(|_| Graph::create(true)).collect();
    Ok(Operation::Conditional(Conditional {
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

/// A kernel node's parameters; what the pointers in it lead to stays valid until this thread asks again.
fn kernel_parameters(node: CUgraphNode) -> Result<CUDA_KERNEL_NODE_PARAMS_v1> {
    use std::cell::RefCell;
    thread_local! {
        static LENT: RefCell<(Option<Launch>, Vec<*mut c_void>)> = const { RefCell::new((None, Vec::new())) };
    }
    let Operation::Kernel(launch) = registries().nodes.get(node)?.operation() else {
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
        gridDimX: launch.grid[0],
        gridDimY: launch.grid[1],
        gridDimZ: launch.grid[2],
        blockDimX: launch.block[0],
        blockDimY: launch.block[1],
        blockDimZ: launch.block[2],
        sharedMemBytes: launch.shared,
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

/// For each cloned graph, which of its nodes stands for which original.
static CLONES: Mutex<Option<HashMap<usize, HashMap<usize, usize>>>> = Mutex::new(None);

/// Keeps a clone's map.
pub(super) fn remember_clone(clone: &Graph, map: HashMap<usize, usize>) {
    lock(&CLONES)
        .get_or_insert_default()
        .insert(clone.handle, map);
}

/// The node of a clone that stands for an original.
pub(super) fn find_in_clone(clone: &Graph, original: usize) -> Option<usize> {
    lock(&CLONES)
        .as_ref()?
        .get(&clone.handle)?
        .get(&original)
        .copied()
}
