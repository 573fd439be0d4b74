//! Nodes that copy and fill memory.

use super::add::{add, check_context, replace};
use crate::api::entry::*;
use crate::context::{Context, current_unchecked};
use crate::graph::NODES;
use crate::memory::{Fill, Transfer};
use crate::streams::Operation;

driver_calls! {
    Ready fn cuGraphAddMemcpyNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext,
    ) {
        let operation = copy(&*check_context(ctx)?, parameters(copyParams)?)?;
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

    Ready fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::Copy(copy)) => put(nodeParams, copy.parameters())?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D) {
        check_present_context()?;
        let copy = Transfer::three_dimensional(parameters(nodeParams)?)?;
        replace(&*NODES.get(hNode)?, Operation::Copy(copy))?;
    }

    Ready fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::Fill(fill)) => put(nodeParams, CUDA_MEMSET_NODE_PARAMS {
                dst: fill.asked().address as CUdeviceptr,
                pitch: fill.asked().pitch,
                value: fill.asked().value,
                elementSize: fill.asked().element as c_uint,
                width: fill.asked().width,
                height: fill.asked().height,
            })?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS) {
        check_present_context()?;
        replace(&*NODES.get(hNode)?, memset(parameters(nodeParams)?)?)?;
    }
}

/// The current context need not be there, but if it is, it is fit for use.
fn check_present_context() -> Result {
    current_unchecked().map_or(Ok(()), |context| context.check())
}

/// The copy that parameters describe, by a node of this context.
///
/// # Errors
///
/// The context's device may not use memory of a pool that is an end; and those of [`Transfer::three_dimensional`].
pub(in crate::api) fn copy(context: &Context, given: &CUDA_MEMCPY3D) -> Result<Operation> {
    let copy = Transfer::three_dimensional(given)?;
    copy.refuse_other_pools(context.device)?;
    Ok(Operation::Copy(copy))
}

/// The fill that parameters describe.
pub(in crate::api) fn memset(given: &CUDA_MEMSET_NODE_PARAMS) -> Result<Operation> {
    let fill = Fill {
        address: given.dst as usize,
        pitch: given.pitch,
        value: given.value,
        element: given.elementSize as usize,
        width: given.width,
        height: given.height,
    };
    if fill.width == 0 || fill.height == 0 {
        return Err(code::INVALID_VALUE);
    }
    Ok(Operation::Fill(fill.check()?))
}
