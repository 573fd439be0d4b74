//! Adding a node to a graph, and giving it another operation of the same type.

use std::sync::Arc;

use crate::api::entry::*;
use crate::api::graph::dependency_list;
use crate::context::{Context, current};
use crate::graph::{GRAPHS, Node, NodeOperation, add_node};
use crate::streams::Operation;

/// The context of a node's parameters, which is fit for use; null means the current one.
pub(in crate::api) fn check_context(handle: CUcontext) -> Result<Arc<Context>> {
    if handle.is_null() {
        return current();
    }
    let context = Context::of_handle(handle)?;
    context.check()?;
    Ok(context)
}

/// Changes what a node does to another operation of the same type.
pub(super) fn replace(node: &Node, operation: Operation) -> Result {
    let fits = node.single_operation().is_some_and(|old| {
        core::mem::discriminant(&old) == core::mem::discriminant(&operation)
            && keeps_count(&old, &operation)
    });
    if !fits {
        return Err(code::INVALID_VALUE);
    }
    node.set_operation(NodeOperation::Single(operation));
    Ok(())
}

/// How many semaphores a node signals or waits for never changes.
fn keeps_count(old: &Operation, new: &Operation) -> bool {
    match (old, new) {
        (Operation::SemaphoreSignal(old), Operation::SemaphoreSignal(new)) => old.may_become(new),
        (Operation::SemaphoreWait(old), Operation::SemaphoreWait(new)) => old.may_become(new),
        _ => true,
    }
}

/// Adds a node.
///
/// # Safety
///
/// `to` is null or valid for writing; `after` is null or valid for `count` entries.
pub(super) unsafe fn add(
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
        to.write(add_node(&graph, &after, operation.into())?.handle as CUgraphNode);
    }
    Ok(())
}
