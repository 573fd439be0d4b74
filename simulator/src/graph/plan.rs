//! What an executable graph runs: a snapshot of a graph with its nodes numbered, checked when it is made.

use std::collections::HashMap;
use std::sync::Arc;

use super::conditional::{self, ConditionalKind};
use super::template::{Graph, kind_of};
use crate::abi::{CUgraphInstantiateResult, CUgraphNodeType, CUresult};
use crate::state::code;
use crate::streams::Operation;

/// A snapshot of a graph.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Step>,
    /// Conditional handles with the value that a launch starts with.
    pub(crate) defaults: Vec<(u64, u32)>,
}

/// A node of the snapshot.
#[derive(Clone)]
pub(crate) struct Step {
    /// The node of the template, by which the program names this step.
    pub(crate) origin: usize,
    pub(crate) action: Action,
    /// The steps that come before.
    pub(crate) after: Vec<usize>,
    /// A disabled step does nothing but keep its place.
    pub(crate) enabled: bool,
}

#[derive(Clone)]
pub(crate) enum Action {
    Do(Operation),
    Child(Arc<Plan>),
    Conditional {
        handle: u64,
        kind: ConditionalKind,
        bodies: Vec<Arc<Plan>>,
    },
}

impl Action {
    pub(crate) fn kind(&self) -> CUgraphNodeType {
        match self {
            Self::Do(operation) => kind_of(operation),
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
    compile_as(graph, false)
}

fn compile_as(graph: &Graph, conditional_body: bool) -> Result<Plan, Problem> {
    let nodes = graph.nodes();
    let numbers: HashMap<usize, usize> = nodes
        .iter()
        .enumerate()
        .map(|(number, node)| (node.handle, number))
        .collect();
    let mut steps = Vec::with_capacity(nodes.len());
    for node in &nodes {
        let operation = node.operation();
        if conditional_body && !allowed_in_body(&operation) {
            return Err(problem(
                CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
                node.handle,
            ));
        }
        let action = match operation {
            Operation::Child(child) => {
                Action::Child(Arc::new(compile_as(&child, conditional_body)?))
            }
            Operation::Conditional(node) => Action::Conditional {
                handle: node.handle,
                kind: node.kind,
                bodies: node
                    .bodies
                    .iter()
                    .map(|body| compile_as(body, true).map(Arc::new))
                    .collect::<Result<_, _>>()?,
            },
            other => Action::Do(other),
        };
        steps.push(Step {
            origin: node.handle,
            action,
            after: Vec::new(),
            enabled: true,
        });
    }
    for edge in graph.edges() {
        steps[numbers[&edge.to]].after.push(numbers[&edge.from]);
    }
    let mut defaults = Vec::new();
    for handle in graph.conditions() {
        if !conditional::is_taken(handle) {
            let result = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
            return Err(problem(result, 0));
        }
        if let Some((default, true)) = conditional::default_of(handle) {
            defaults.push((handle, default));
        }
    }
    Ok(Plan {
        nodes: steps,
        defaults,
    })
}

/// A conditional body runs without the host: no host functions, events or allocations, and copies only where the device reaches.
fn allowed_in_body(operation: &Operation) -> bool {
    use crate::streams::Place;
    match operation {
        Operation::Kernel(_)
        | Operation::Empty
        | Operation::Fill(_)
        | Operation::Child(_)
        | Operation::Conditional(_) => true,
        Operation::Copy(copy) => copy.places() == (Place::Known, Place::Known),
        _ => false,
    }
}
