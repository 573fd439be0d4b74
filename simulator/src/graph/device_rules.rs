//! Which graphs kernels may launch (CUDA C++ Programming Guide, "Device Graph Requirements"); codes as an H200 answers (driver 580.159.04).

use super::plan::{Action, Plan, Problem};
use crate::error::code;
use crate::memory::EndMemory;
use crate::streams::Operation;
use warpsmith_abi::CUgraphInstantiateResult as Outcome;

/// Refuses a plan that kernels of a device may not launch.
///
/// # Errors
///
/// It, or a child graph, is empty, has a node of another kind than kernels, copies, fills and child graphs, copies memory that the device
/// does not reach by itself, or has a kernel of another device.
pub(crate) fn check_for_device(plan: &Plan, device: usize) -> Result<(), Problem> {
    let problem = |result, node| Problem {
        code: code::INVALID_VALUE,
        result,
        node,
    };
    if plan.nodes.is_empty() {
        return Err(problem(Outcome::CUDA_GRAPH_INSTANTIATE_ERROR, 0));
    }
    for step in &plan.nodes {
        let refusal = match &step.action {
            Action::Child(child) => {
                check_for_device(child, device)?;
                None
            }
            Action::Single(Operation::Kernel(launch)) => (launch.function.device != device)
                .then_some(Outcome::CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED),
            Action::Single(Operation::Fill(_)) => None,
            Action::Single(Operation::Copy(copy))
                if copy.memory_kinds() == (EndMemory::Known, EndMemory::Known) =>
            {
                None
            }
            _ => Some(Outcome::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED),
        };
        if let Some(refusal) = refusal {
            return Err(problem(refusal, step.origin));
        }
    }
    Ok(())
}
