//! Updating a plan from one of the same shape: what may change, and why it is refused.

use std::sync::Arc;

use super::plan::{Action, Plan, Step};
use crate::streams::Operation;
use warpsmith_abi::CUgraphExecUpdateResult as Outcome;

/// Why an update is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) outcome: Outcome,
    /// The node of the graph that was instantiated; 0 for none.
    pub(crate) node: usize,
    /// The node of the other graph that it was compared with; 0 for none.
    pub(crate) compared_with: usize,
}

/// Takes over all parameters of `new`. Nodes are paired in the order of their creation.
pub(super) fn merge(old: &Plan, mut new: Plan) -> Result<Plan, Refusal> {
    if old.nodes.len() != new.nodes.len() {
        return Err(Refusal {
            outcome: Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
            node: 0,
            compared_with: 0,
        });
    }
    for (before, after) in old.nodes.iter().zip(&mut new.nodes) {
        let refuse = |outcome| {
            Err(Refusal {
                outcome,
                node: after.origin,
                compared_with: before.origin,
            })
        };
        let sorted = |step: &Step| {
            let mut list = step.after.clone();
            list.sort_unstable();
            list
        };
        if before.action.node_type() != after.action.node_type() {
            return refuse(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
        }
        if sorted(before) != sorted(after) {
            return refuse(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
        }
        match (&before.action, &mut after.action) {
            (Action::Single(old), Action::Single(new)) => {
                if let Some(outcome) = forbidden(old, new) {
                    return refuse(outcome);
                }
            }
            (Action::Child(old), Action::Child(new)) => *new = merge(old, Plan::clone(new))?.into(),
            (
                Action::Conditional {
                    kind: old_kind,
                    device: old_device,
                    bodies: old,
                    ..
                },
                Action::Conditional {
                    kind,
                    device,
                    bodies: new,
                    ..
                },
            ) => {
                if old_kind != kind || old_device != device || old.len() != new.len() {
                    return refuse(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
                }
                for (old, new) in old.iter().zip(new) {
                    *new = merge(old, Plan::clone(new))?.into();
                }
            }
            _ => return refuse(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED),
        }
        // The program still names steps by the nodes of the graph that was instantiated, and disabled steps stay disabled.
        after.origin = before.origin;
        after.enabled = before.enabled;
    }
    Ok(new)
}

/// Whether a node's parameters may become others, and if not, why not.
pub(super) fn forbidden(old: &Operation, new: &Operation) -> Option<Outcome> {
    match (old, new) {
        // As measured on two devices (H100, driver 580.159.04), the context that a copy or fill names may change, and its memory's device may not.
        (Operation::Kernel(old), Operation::Kernel(new)) => (old.function.context
            != new.function.context)
            .then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE),
        (Operation::Copy(old), Operation::Copy(new)) => {
            let same_kind =
                old.is_linear() && new.is_linear() && old.memory_kinds() == new.memory_kinds();
            let same_kind = same_kind && old.devices() == new.devices();
            (!same_kind && old != new)
                .then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        }
        (Operation::Fill(old), Operation::Fill(new)) => {
            let same_kind = old.asked().height == 1 && new.asked().height == 1;
            let same_kind = same_kind && old.device() == new.device();
            (!same_kind && old != new)
                .then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        }
        (Operation::Memory(old), Operation::Memory(new)) => {
            (!old.may_become(new)).then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        }
        (Operation::SemaphoreSignal(old), Operation::SemaphoreSignal(new)) => {
            (!old.may_become(new)).then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        }
        (Operation::SemaphoreWait(old), Operation::SemaphoreWait(new)) => {
            (!old.may_become(new)).then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        }
        (Operation::GraphAllocate(old), Operation::GraphAllocate(new))
        | (Operation::GraphFree(old, _), Operation::GraphFree(new, _)) => {
            (!Arc::ptr_eq(old, new)).then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED)
        }
        _ => None,
    }
}
