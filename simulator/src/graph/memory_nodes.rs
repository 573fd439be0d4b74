//! Nodes that allocate and free memory: who may free what, which addresses are used again, and what graphs with such nodes cannot do.

use std::sync::{Arc, Weak};

use super::template::{Graph, Instance, Node, NodeOperation};
use crate::error::{Result, code};
use crate::memory::graph_memory::{GraphAllocation, Placement};
use crate::streams::Operation;
use crate::streams::capture::Dependency;
use crate::sync::lock;

/// Adds a node of any type but an allocation.
///
/// # Errors
///
/// Those of [`Graph::add`]; invalid value for a free of what is no memory of a graph, is freed by a node of its own graph, or is freed in
/// this graph already.
pub(crate) fn add(
    graph: &Graph,
    after: &[Dependency],
    operation: NodeOperation,
) -> Result<Arc<Node>> {
    let own = match &operation {
        NodeOperation::Single(Operation::Free(_)) => return Err(code::INVALID_VALUE),
        NodeOperation::Single(Operation::GraphFree(allocation, _)) => {
            let frees = |node: &Arc<Node>| match node.single_operation() {
                Some(Operation::GraphFree(freed, _)) => Arc::ptr_eq(&freed, allocation),
                _ => false,
            };
            if allocation.has_own_free() || graph.nodes().iter().any(frees) {
                return Err(code::INVALID_VALUE);
            }
            let makes = |made: &Arc<GraphAllocation>| Arc::ptr_eq(made, allocation);
            allocations(graph)
                .iter()
                .any(makes)
                .then(|| Arc::clone(allocation))
        }
        _ => None,
    };
    let node = graph.add(after, operation)?;
    if let Some(allocation) = own {
        allocation.set_own_free()?;
    }
    Ok(node)
}

/// Adds an allocation node.
///
/// # Errors
///
/// Those of [`Graph::add`]; out of memory if there are no addresses.
pub(crate) fn allocate(
    graph: &Graph,
    after: &[Dependency],
    placement: Placement,
) -> Result<(Arc<Node>, Arc<GraphAllocation>)> {
    let reused = free_before(graph, after, &placement);
    let allocation = GraphAllocation::new(placement, reused.as_deref())?;
    let operation = Operation::GraphAllocate(Arc::clone(&allocation));
    let node = graph.add(after, NodeOperation::Single(operation))?;
    Ok((node, allocation))
}

/// The allocations of a graph's own nodes.
fn allocations(graph: &Graph) -> Vec<Arc<GraphAllocation>> {
    let made = |node: &Arc<Node>| match node.single_operation() {
        Some(Operation::GraphAllocate(allocation)) => Some(allocation),
        _ => None,
    };
    graph.nodes().iter().filter_map(made).collect()
}

/// An allocation of the same size whose address is free where a new node is: all that have it are freed by nodes that come before.
fn free_before(
    graph: &Graph,
    after: &[Dependency],
    placement: &Placement,
) -> Option<Arc<GraphAllocation>> {
    let all = allocations(graph);
    let frees: Vec<_> = graph
        .nodes()
        .iter()
        .filter_map(|node| match node.single_operation() {
            Some(Operation::GraphFree(allocation, _)) => Some((node.handle, allocation)),
            _ => None,
        })
        .collect();
    let is_free = |allocation: &Arc<GraphAllocation>| {
        frees.iter().any(|(free, freed)| {
            Arc::ptr_eq(freed, allocation)
                && after
                    .iter()
                    .any(|before| graph.is_before(*free, before.node))
        })
    };
    let fits = |allocation: &&Arc<GraphAllocation>| {
        let at = allocation.address();
        allocation.placement.bytes == placement.bytes
            && allocation.placement.device == placement.device
            && all
                .iter()
                .filter(|other| other.address() == at)
                .all(is_free)
    };
    all.iter().find(fits).cloned()
}

/// Whether a graph, or one that belongs to its nodes, allocates or frees memory.
fn has_memory_nodes(graph: &Graph) -> bool {
    graph.nodes().iter().any(|node| match node.operation() {
        NodeOperation::Single(Operation::GraphAllocate(_) | Operation::GraphFree(..)) => true,
        other => other
            .inner_graphs()
            .iter()
            .any(|inner| has_memory_nodes(inner)),
    })
}

/// Refuses what a graph with memory nodes cannot do: be copied, or lose nodes or edges.
///
/// # Errors
///
/// Not supported.
pub(crate) fn refuse_memory_nodes(graph: &Graph) -> Result {
    match has_memory_nodes(graph) {
        true => Err(code::NOT_SUPPORTED),
        false => Ok(()),
    }
}

/// What an executable graph keeps as long as it lives. One with memory nodes is alone: a second would make the same addresses live.
///
/// # Errors
///
/// Not supported if there is one already.
pub(crate) fn instance_of(graph: &Graph) -> Result<Arc<Instance>> {
    let mut last = lock(&graph.instance);
    if last.strong_count() > 0 && has_memory_nodes(graph) {
        return Err(code::NOT_SUPPORTED);
    }
    let instance = Arc::new(Instance);
    *last = Arc::downgrade(&instance);
    Ok(instance)
}

/// Makes a graph, not a copy of it, a node of another.
///
/// # Errors
///
/// Invalid value if it belongs to a node or is the other graph itself; not supported if it is instantiated.
pub(crate) fn move_into_node(
    graph: &Graph,
    after: &[Dependency],
    moved: Arc<Graph>,
) -> Result<Arc<Node>> {
    if graph.handle == moved.handle || moved.is_owned() || is_inside(graph, &moved) {
        return Err(code::INVALID_VALUE);
    }
    if Weak::strong_count(&lock(&moved.instance)) > 0 {
        return Err(code::NOT_SUPPORTED);
    }
    let node = graph.add(after, NodeOperation::Child(Arc::clone(&moved)))?;
    moved.give_to_node()?;
    Ok(node)
}

/// Whether a graph belongs to a node of another, at any depth.
fn is_inside(graph: &Graph, outer: &Graph) -> bool {
    outer.nodes().iter().any(|node| {
        let operation = node.operation();
        let mut inner = operation.inner_graphs().iter();
        inner.any(|inner| inner.handle == graph.handle || is_inside(graph, inner))
    })
}
