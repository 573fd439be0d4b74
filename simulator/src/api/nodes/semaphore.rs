//! Nodes that signal semaphores of other program interfaces, and wait for them.

use super::add::{add, replace};
use crate::api::entry::*;
use crate::api::external_semaphore::batch;
use crate::graph::NODES;
use crate::streams::Operation;

driver_calls! {
    Ready fn cuGraphAddExternalSemaphoresSignalNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) {
        let operation = signal(parameters(nodeParams)?)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddExternalSemaphoresWaitNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) {
        let operation = wait(parameters(nodeParams)?)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphExternalSemaphoresSignalNodeGetParams(
        hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) {
        let Some(Operation::SemaphoreSignal(batch)) = NODES.get(hNode)?.single_operation() else {
            return Err(code::INVALID_VALUE);
        };
        // The arrays are the node's, until that gets others.
        put(params_out, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
            extSemArray: batch.handles().as_ptr().cast_mut(),
            paramsArray: batch.parameters().as_ptr(),
            numExtSems: batch.handles().len() as c_uint,
        })?;
    }

    Ready fn cuGraphExternalSemaphoresWaitNodeGetParams(
        hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) {
        let Some(Operation::SemaphoreWait(batch)) = NODES.get(hNode)?.single_operation() else {
            return Err(code::INVALID_VALUE);
        };
        // The arrays are the node's, until that gets others.
        put(params_out, CUDA_EXT_SEM_WAIT_NODE_PARAMS {
            extSemArray: batch.handles().as_ptr().cast_mut(),
            paramsArray: batch.parameters().as_ptr(),
            numExtSems: batch.handles().len() as c_uint,
        })?;
    }

    Ready fn cuGraphExternalSemaphoresSignalNodeSetParams(
        hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) {
        replace(&*NODES.get(hNode)?, signal(parameters(nodeParams)?)?)?;
    }

    Ready fn cuGraphExternalSemaphoresWaitNodeSetParams(
        hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) {
        replace(&*NODES.get(hNode)?, wait(parameters(nodeParams)?)?)?;
    }
}

/// The signals that parameters describe.
///
/// # Safety
///
/// The arrays are null or have as many entries as the parameters say.
pub(in crate::api) unsafe fn signal(given: &CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) -> Result<Operation> {
    // SAFETY: the arrays have so many entries by the caller's contract.
    let batch = unsafe { batch(given.extSemArray, given.paramsArray, given.numExtSems) };
    Ok(Operation::SemaphoreSignal(batch?))
}

/// The waits that parameters describe.
///
/// # Safety
///
/// The arrays are null or have as many entries as the parameters say.
pub(in crate::api) unsafe fn wait(given: &CUDA_EXT_SEM_WAIT_NODE_PARAMS) -> Result<Operation> {
    // SAFETY: the arrays have so many entries by the caller's contract.
    let batch = unsafe { batch(given.extSemArray, given.paramsArray, given.numExtSems) };
    Ok(Operation::SemaphoreWait(batch?))
}
