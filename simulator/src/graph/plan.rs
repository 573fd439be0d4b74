//! What an executable graph runs: a snapshot of a graph with its nodes numbered, checked when it is made.

use std::collections::HashMap;
use std::sync::Arc;

use super::template::{ConditionalKind, Graph, NodeOperation, node_type_of};
use crate::device_runtime::conditions;
use crate::error::code;
use crate::memory::EndMemory;
use crate::memory::graph_memory::NodeScope;
use crate::streams::Operation;
use warpsmith_abi::{CUgraphInstantiateResult, CUgraphNodeType, CUresult};

/// A snapshot of a graph.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Step>,
    /// Conditional handles, also those of child graphs and bodies, with the value that a launch starts with.
    pub(crate) defaults: Vec<(u64, u32)>,
    /// The handles of its own conditional nodes, which outlive the graph here.
    _conditions: Vec<Arc<conditions::Owned>>,
}

/// A node of the snapshot.
#[derive(Clone)]
pub(crate) struct Step {
    /// The node of the template, by which the program names this step.
    pub(crate) origin: usize,
    pub(crate) action: Action,
    /// The steps that come before.
    pub(crate) after: Vec<usize>,
    /// Which allocations of graphs it may use; `None` if the graph has none. See [`super::lifetimes`].
    pub(crate) scope: Option<Arc<NodeScope>>,
    /// A disabled step does nothing, but steps after it still wait for those before it.
    pub(crate) enabled: bool,
}

/// What a step does.
#[derive(Clone)]
pub(crate) enum Action {
    Single(Operation),
    Child(Arc<Plan>),
    Conditional {
        handle: u64,
        kind: ConditionalKind,
        device: usize,
        bodies: Vec<Arc<Plan>>,
    },
}

impl Action {
    /// The type of the step's node as the driver names it.
    pub(crate) fn node_type(&self) -> CUgraphNodeType {
        match self {
            Self::Single(operation) => node_type_of(operation),
            Self::Child(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
            Self::Conditional { .. } => CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        }
    }
}

/// Why a graph cannot be instantiated, and the node at fault (0 for none).
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) code: CUresult,
    pub(crate) result: CUgraphInstantiateResult,
    pub(crate) node: usize,
}

fn problem(result: CUgraphInstantiateResult, node: usize) -> Problem {
    let code = match result {
        CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED => {
            code::NOT_SUPPORTED
        }
        _ => code::INVALID_VALUE,
    };
    Problem { code, result, node }
}

/// Makes the snapshot.
pub(crate) fn compile(graph: &Graph) -> Result<Plan, Problem> {
    compile_as(graph, None)
}

/// `body_of` is the device of the conditional node whose body it is.
fn compile_as(graph: &Graph, body_of: Option<usize>) -> Result<Plan, Problem> {
    let nodes = graph.nodes();
    let numbers: HashMap<usize, usize> = nodes
        .iter()
        .enumerate()
        .map(|(number, node)| (node.handle, number))
        .collect();
    let mut steps = Vec::with_capacity(nodes.len());
    for node in &nodes {
        let operation = node.operation();
        if let Some(device) = body_of {
            check_in_body(&operation, device).map_err(|result| problem(result, node.handle))?;
        }
        let action = match operation {
            NodeOperation::Child(child) => Action::Child(Arc::new(compile_as(&child, body_of)?)),
            NodeOperation::Conditional(node) => Action::Conditional {
                handle: node.handle,
                kind: node.kind,
                device: node.device,
                bodies: node
                    .bodies
                    .iter()
                    .map(|body| compile_as(body, Some(node.device)).map(Arc::new))
                    .collect::<Result<_, _>>()?,
            },
            NodeOperation::Single(operation) => Action::Single(operation),
        };
        steps.push(Step {
            origin: node.handle,
            action,
            after: Vec::new(),
            scope: None,
            enabled: true,
        });
    }
    for edge in graph.edges() {
        steps[numbers[&edge.to]].after.push(numbers[&edge.from]);
    }
    let mut defaults: Vec<_> = steps
        .iter()
        .flat_map(|step| inner_defaults(&step.action))
        .collect();
    let conditions = graph.conditions();
    for handle in conditions.iter().map(|condition| condition.handle) {
        if !conditions::has_node(handle) {
            let result = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
            return Err(problem(result, 0));
        }
        if let Some(default) = conditions::launch_default(handle) {
            defaults.push((handle, default));
        }
    }
    Ok(Plan {
        nodes: steps,
        defaults,
        _conditions: conditions,
    })
}

/// The defaults of the graphs inside a step: a launch of the outermost graph starts with all of them, a pass of a loop with none.
fn inner_defaults(action: &Action) -> Vec<(u64, u32)> {
    let plans = match action {
        Action::Single(_) => &[][..],
        Action::Child(plan) => std::slice::from_ref(plan),
        Action::Conditional { bodies, .. } => bodies,
    };
    plans
        .iter()
        .flat_map(|plan| plan.defaults.iter().copied())
        .collect()
}

/// A conditional body runs without the host: no host functions, events or allocations, and copies only where the device reaches. Its kernels
/// are of the conditional node's device.
fn check_in_body(operation: &NodeOperation, device: usize) -> Result<(), CUgraphInstantiateResult> {
    let fits = match operation {
        NodeOperation::Single(Operation::Kernel(launch)) => {
            if launch.function.device != device {
                return Err(
                    CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED,
                );
            }
            true
        }
        NodeOperation::Child(_)
        | NodeOperation::Conditional(_)
        | NodeOperation::Single(Operation::Empty | Operation::Fill(_)) => true,
        NodeOperation::Single(Operation::Copy(copy)) => {
            let (to, from) = copy.memory_kinds();
            to != EndMemory::Pageable && from != EndMemory::Pageable
        }
        NodeOperation::Single(_) => false,
    };
    match fits {
        true => Ok(()),
        false => Err(CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED),
    }
}
