//! Updating an executable graph from a graph of the same shape: what may change, and why it is refused.

use super::exec::Exec;
use super::plan::{Action, Plan, Step, compile};
use super::template::Graph;
use crate::abi::CUgraphExecUpdateResult as Outcome;
use crate::streams::Operation;

/// Why an update is refused: the reason, the updated graph's node, and the node of the other graph that it was compared with.
pub(crate) type Refusal = (Outcome, usize, usize);

/// Takes over all parameters of `graph`. Nodes are paired in the order of their creation.
pub(crate) fn update(exec: &Exec, graph: &Graph) -> Result<(), Refusal> {
    let fresh =
        compile(graph).map_err(|problem| (Outcome::CU_GRAPH_EXEC_UPDATE_ERROR, problem.node, 0))?;
    let merged = merge(&exec.plan(), fresh)?;
    exec.replace(merged, Some(graph.objects()));
    Ok(())
}

pub(super) fn merge(old: &Plan, mut new: Plan) -> Result<Plan, Refusal> {
    if old.nodes.len() != new.nodes.len() {
        return Err((Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, 0, 0));
    }
    for (before, after) in old.nodes.iter().zip(&mut new.nodes) {
        let refuse = |outcome| Err((outcome, after.origin, before.origin));
        let sorted = |step: &Step| {
            let mut list = step.after.clone();
            list.sort_unstable();
            list
        };
        if before.action.kind() != after.action.kind() {
            return refuse(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
        }
        if sorted(before) != sorted(after) {
            return refuse(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
        }
        match (&before.action, &mut after.action) {
            (Action::Do(old), Action::Do(new)) => {
                if let Some(outcome) = forbidden(old, new) {
                    return refuse(outcome);
                }
            }
            (Action::Child(old), Action::Child(new)) => *new = merge(old, Plan::clone(new))?.into(),
            (
                Action::Conditional {
                    kind: old_kind,
                    bodies: old,
                    ..
                },
                Action::Conditional {
                    kind, bodies: new, ..
                },
            ) => {
                if old_kind != kind || old.len() != new.len() {
                    return refuse(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
                }
                for (old, new) in old.iter().zip(new) {
                    *new = merge(old, Plan::clone(new))?.into();
                }
            }
            _ => return refuse(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED),
        }
        // The program goes on naming steps by the nodes of the graph that was instantiated, and what it disabled stays so.
        after.origin = before.origin;
        after.enabled = before.enabled;
    }
    Ok(new)
}

/// Whether a node's parameters may become others, and if not, why not.
pub(super) fn forbidden(old: &Operation, new: &Operation) -> Option<Outcome> {
    match (old, new) {
        (Operation::Kernel(old), Operation::Kernel(new)) => (old.function.context
            != new.function.context)
            .then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED),
        (Operation::Copy(old), Operation::Copy(new)) => {
            let fixed = old.is_linear() && new.is_linear() && old.places() == new.places();
            (!fixed && old != new).then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        }
        (Operation::Fill(old), Operation::Fill(new)) => {
            let fixed = old.height == 1 && new.height == 1;
            (!fixed && old != new).then_some(Outcome::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        }
        _ => None,
    }
}
