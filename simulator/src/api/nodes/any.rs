//! Nodes by generic parameters: of every type, also child graphs and conditional nodes.

use super::add::{add, check_context, replace};
use super::allocation::{add_allocation_node, free};
use super::batch::batch;
use super::host::host;
use super::kernel::kernel;
use super::memory::memset;
use super::semaphore::{signal, wait};
use crate::api::entry::*;
use crate::api::graph::dependency_list;
use crate::context::current_unchecked;
use crate::device_runtime::conditions;
use crate::graph::{
    Conditional, ConditionalKind, GRAPHS, Graph, NODES, NodeOperation, add_node, move_into_node,
    refuse_memory_nodes,
};
use crate::memory::Transfer;
use crate::streams::{EVENTS, Operation};

driver_calls! {
    Ready fn cuGraphAddChildGraphNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        childGraph: CUgraph,
    ) {
        let operation = child(childGraph, Some(hGraph))?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
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
                let made = new_conditional(&found, conditional)?;
                let (bodies, lent) = (made.bodies.clone(), made.lent_bodies());
                let added = add_node(&found, &after, NodeOperation::Conditional(made));
                if added.is_err() {
                    for body in &bodies {
                        let _ = GRAPHS.remove(body.handle as CUgraph);
                    }
                }
                let node = added?;
                conditions::assign_to_node(conditional.handle)?;
                conditional.phGraph_out = lent.cast_mut().cast();
                to.write(node.handle as CUgraphNode);
                return Ok(());
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => {
                let given = &given.__bindgen_anon_1.graph;
                match given.ownership {
                    CUgraphChildGraphNodeOwnership::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE => {
                        child(given.graph, Some(graph))?
                    }
                    CUgraphChildGraphNodeOwnership::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE => {
                        let moved = GRAPHS.get(given.graph)?;
                        to.write(move_into_node(&found, &after, moved)?.handle as CUgraphNode);
                        return Ok(());
                    }
                    _ => return Err(code::INVALID_VALUE),
                }
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC => {
                let wish = &mut *(&raw mut given.__bindgen_anon_1.alloc)
                    .cast::<CUDA_MEM_ALLOC_NODE_PARAMS>();
                to.write(add_allocation_node(&found, &after, wish)?);
                return Ok(());
            }
            _ => NodeOperation::Single(from_any(given, None)?),
        };
        to.write(add_node(&found, &after, operation)?.handle as CUgraphNode);
    }
    Ok(())
}

/// The operation that generic parameters describe. `old` is what the node did before, for what they may leave out.
///
/// # Safety
///
/// The union holds what its type field says.
pub(in crate::api) unsafe fn from_any(
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
                kernel(&*parameters.cast::<CUDA_KERNEL_NODE_PARAMS>(), old)?
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
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => {
                let parameters = &raw const union.memOp;
                batch(&*parameters.cast::<CUDA_BATCH_MEM_OP_NODE_PARAMS>())?
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL => {
                let parameters = &raw const union.extSemSignal;
                signal(&*parameters.cast::<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>())?
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => {
                let parameters = &raw const union.extSemWait;
                wait(&*parameters.cast::<CUDA_EXT_SEM_WAIT_NODE_PARAMS>())?
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
                Operation::EventRecord(EVENTS.get(union.eventRecord.event)?)
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
                Operation::EventWait(EVENTS.get(union.eventWait.event)?)
            }
            // What a node frees is never changed.
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE if old.is_none() => free(union.free.dptr)?,
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH
            | CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => return Err(code::INVALID_VALUE),
            _ => return Err(code::NOT_SUPPORTED),
        })
    }
}

/// A copy of a graph as one node. A graph cannot become part of itself.
fn child(graph: CUgraph, parent: Option<CUgraph>) -> Result<NodeOperation> {
    let child = GRAPHS.get(graph)?;
    refuse_memory_nodes(&child)?;
    if parent.is_some_and(|parent| parent == graph) {
        return Err(code::INVALID_VALUE);
    }
    Ok(NodeOperation::Child(child.duplicate(true).0))
}

/// The most bodies of a conditional node.
const MOST_BODIES: u32 = 1 << 20;

/// The operation of a conditional node that is to be added to a graph.
fn new_conditional(graph: &Graph, given: &CUDA_CONDITIONAL_NODE_PARAMS) -> Result<Conditional> {
    let kind = match (given.type_, given.size) {
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF, 1 | 2) => ConditionalKind::If,
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE, 1) => ConditionalKind::While,
        (CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH, 1..) => ConditionalKind::Switch,
        _ => return Err(code::INVALID_VALUE),
    };
    // A GPU's driver makes a million bodies, and of sixteen million it does not come back.
    if given.size > MOST_BODIES {
        return Err(code::OUT_OF_MEMORY);
    }
    let device = match given.ctx.is_null() {
        true => current_unchecked().map_or(0, |context| context.device),
        false => check_context(given.ctx)?.device,
    };
    // The handle is one of this graph, and no other node has it.
    if !graph.has_condition(given.handle) || conditions::has_node(given.handle) {
        return Err(code::INVALID_VALUE);
    }
    let bodies = (0..given.size).map(|_| Graph::create(true)).collect();
    Ok(Conditional::new(given.handle, kind, device, bodies))
}
