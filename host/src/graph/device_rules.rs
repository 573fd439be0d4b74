//! Which graphs kernels may launch (CUDA C++ Programming Guide, "Device Graph Requirements").

use warpsmith_driver::raw::CUgraphNodeType as Type;

use super::description::Graph;
use super::nested;
use crate::error::{Code, Error, Node, Result};

/// # Errors
///
/// The graph is empty, or has a node that no graph can have which kernels launch. What copies reach is for the driver to say.
pub(super) fn check_for_device(graph: &Graph) -> Result<()> {
    let refuse = |message: String| {
        Error::misuse(
            "cuGraphInstantiateWithParams",
            Code::INVALID_VALUE,
            message,
            "a graph that kernels launch has launches of kernels, copies and fills alone, at least one: put the rest into the graph that launches it",
        )
    };
    if let Some(other) = graph.contents.devices_besides(&graph.gpu).next() {
        return Err(refuse(format!(
            "a node of the graph is of `{}`, and such a graph is of one device, here `{}`",
            other.context().choice,
            graph.gpu.context().choice
        )));
    }
    let nodes = graph.nodes()?;
    if nodes.is_empty() {
        return Err(refuse("the graph has no nodes".into()));
    }
    let turn = graph.template.turn();
    // The first one of the graph is looked at first.
    let mut nodes: Vec<_> = nodes.into_iter().rev().map(Node::raw).collect();
    while let Some(node) = nodes.pop() {
        // SAFETY: the node is the graph's, or of a child graph in it, which nobody changes.
        let name = match unsafe { nested::type_of(node, &turn) }? {
            Type::CU_GRAPH_NODE_TYPE_GRAPH => {
                // SAFETY: the node is a child graph's, which lives as long as the node.
                nodes.extend(unsafe { nested::nodes_of(nested::child_of(node, &turn)?, &turn) }?);
                continue;
            }
            Type::CU_GRAPH_NODE_TYPE_KERNEL
            | Type::CU_GRAPH_NODE_TYPE_MEMCPY
            | Type::CU_GRAPH_NODE_TYPE_MEMSET => continue,
            Type::CU_GRAPH_NODE_TYPE_HOST => "a call of a function on the host",
            Type::CU_GRAPH_NODE_TYPE_EMPTY => {
                "an empty node (which a copy or fill of no memory is, too)"
            }
            Type::CU_GRAPH_NODE_TYPE_MEM_ALLOC => "an allocation",
            Type::CU_GRAPH_NODE_TYPE_MEM_FREE => "a free",
            Type::CU_GRAPH_NODE_TYPE_CONDITIONAL => "a loop or a branch",
            Type::CU_GRAPH_NODE_TYPE_WAIT_EVENT | Type::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
                "an event"
            }
            Type::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL | Type::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => {
                "a semaphore of another interface"
            }
            Type::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => "an operation on flags",
            _ => "of another kind",
        };
        let node = Node::new(node, graph.number);
        return Err(refuse(format!("{node:?} of the graph is {name}")));
    }
    Ok(())
}
