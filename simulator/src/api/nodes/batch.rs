//! Nodes that wait for words of memory and write them.

use super::add::{add, check_context, replace};
use crate::api::entry::*;
use crate::context::current;
use crate::graph::NODES;
use crate::streams::{Interface, MemoryBatch, Operation};

driver_calls! {
    Ready fn cuGraphAddBatchMemOpNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) {
        let operation = batch(parameters(nodeParams)?)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphBatchMemOpNodeGetParams(hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        let Some(Operation::Memory(batch)) = NODES.get(hNode)?.single_operation() else {
            return Err(code::INVALID_VALUE);
        };
        // The array is the node's, until that gets another one.
        let given = batch.parameters();
        put(nodeParams_out, CUDA_BATCH_MEM_OP_NODE_PARAMS {
            ctx: current()?.handle as CUcontext,
            count: given.len() as c_uint,
            paramArray: given.as_ptr().cast_mut(),
            flags: 0,
        })?;
    }

    Ready fn cuGraphBatchMemOpNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        replace(&*NODES.get(hNode)?, batch(parameters(nodeParams)?)?)?;
    }
}

/// How many operations a batch may have.
pub(in crate::api) const MOST_OPERATIONS: c_uint = 255;

/// The operations that parameters describe.
///
/// # Safety
///
/// The array has `count` entries.
pub(in crate::api) unsafe fn batch(node: &CUDA_BATCH_MEM_OP_NODE_PARAMS) -> Result<Operation> {
    let device = check_context(node.ctx)?.device;
    // SAFETY: the array has `count` entries by the caller's contract.
    let given = unsafe { given(node.count, node.paramArray, node.flags) }?;
    let batch = MemoryBatch::new(given, device, Interface::Second)?;
    Ok(Operation::Memory(batch))
}

/// The operations of a batch.
///
/// # Safety
///
/// The array is null or has `count` entries, which live as long as the result is used.
pub(in crate::api) unsafe fn given<'a>(
    count: c_uint,
    array: *const CUstreamBatchMemOpParams,
    flags: c_uint,
) -> Result<&'a [CUstreamBatchMemOpParams]> {
    if array.is_null() || flags != 0 || count > MOST_OPERATIONS {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the array is not null, so it has `count` entries by the caller's contract.
    Ok(unsafe { core::slice::from_raw_parts(array, count as usize) })
}
