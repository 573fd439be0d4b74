//! Which graphs kernels may launch (CUDA C++ Programming Guide, "Device Graph Requirements").

use warpsmith_driver::raw::CUgraphNodeType as Type;

use super::description::Graph;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};

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
    let nodes = graph.nodes()?;
    if nodes.is_empty() {
        return Err(refuse("the graph has no nodes".into()));
    }
    for node in nodes {
        let mut kind = Type::CU_GRAPH_NODE_TYPE_EMPTY;
        // SAFETY: the driver writes to `kind`, which outlives the call; the node is the graph's, which nobody changes.
        unsafe { call!(cuGraphNodeGetType(node.raw(), &mut kind)) }?;
        let name = match kind {
            Type::CU_GRAPH_NODE_TYPE_KERNEL
            | Type::CU_GRAPH_NODE_TYPE_MEMCPY
            | Type::CU_GRAPH_NODE_TYPE_MEMSET
            | Type::CU_GRAPH_NODE_TYPE_GRAPH => continue,
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
            _ => "of another kind",
        };
        return Err(refuse(format!("{node:?} of the graph is {name}")));
    }
    Ok(())
}
