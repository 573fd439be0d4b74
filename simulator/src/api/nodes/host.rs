//! Nodes without device work: empty ones, host functions and events.

use super::add::{add, replace};
use crate::api::entry::*;
use crate::graph::NODES;
use crate::streams::{EVENTS, HostCall, Operation};

driver_calls! {
    Ready fn cuGraphAddEmptyNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, Operation::Empty)?;
    }

    Ready fn cuGraphAddHostNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_HOST_NODE_PARAMS,
    ) {
        let operation = host(parameters(nodeParams)?)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddEventRecordNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        event: CUevent,
    ) {
        let operation = Operation::EventRecord(EVENTS.get(not_null(event)?)?);
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddEventWaitNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        event: CUevent,
    ) {
        let operation = Operation::EventWait(EVENTS.get(not_null(event)?)?);
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
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

    Ready fn cuGraphEventRecordNodeSetEvent(hNode: CUgraphNode, event: CUevent) {
        let node = NODES.get(hNode)?;
        replace(&node, Operation::EventRecord(EVENTS.get(not_null(event)?)?))?;
    }

    Ready fn cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent) {
        let node = NODES.get(hNode)?;
        replace(&node, Operation::EventWait(EVENTS.get(not_null(event)?)?))?;
    }

    Ready fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::EventWait(event)) => put(event_out, event.handle as CUevent)?,
            _ => return Err(code::INVALID_VALUE),
        }
    }
}

/// The call that parameters describe.
pub(in crate::api) fn host(given: &CUDA_HOST_NODE_PARAMS) -> Result<Operation> {
    if given.fn_.is_none() {
        return Err(code::INVALID_VALUE);
    }
    Ok(Operation::Host(HostCall {
        function: given.fn_,
        data: given.userData,
    }))
}
