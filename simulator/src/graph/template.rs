//! The editable graph.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use super::UserObject;
use super::conditional::{Conditional, copy_condition};
use crate::abi::{CUgraphEdgeData, CUgraphNodeType};
use crate::state::{Registry, Result, code, lock, registries};
use crate::streams::Operation;

/// An edge's data when nobody gave any: a full dependency.
pub(crate) const PLAIN_EDGE: CUgraphEdgeData = CUgraphEdgeData {
    from_port: 0,
    to_port: 0,
    type_: 0,
    reserved: [0; 5],
};

/// A graph.
pub(crate) struct Graph {
    pub(crate) handle: usize,
    /// It belongs to a node (a child graph or a conditional body) and ends with it.
    pub(crate) owned: bool,
    body: Mutex<Body>,
}

#[derive(Default)]
struct Body {
    nodes: Vec<Arc<Node>>,
    edges: Vec<Edge>,
    /// Conditional handles created on this graph, in order.
    conditions: Vec<u64>,
    objects: Vec<Arc<UserObject>>,
}

/// A node.
pub(crate) struct Node {
    pub(crate) handle: usize,
    pub(crate) graph: usize,
    operation: Mutex<Operation>,
}

/// An edge between two nodes, by their handles.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) data: CUgraphEdgeData,
}

impl Edge {
    pub(crate) fn is_plain(&self) -> bool {
        self.data.from_port == 0 && self.data.to_port == 0 && self.data.type_ == 0
    }
}

impl Node {
    pub(crate) fn operation(&self) -> Operation {
        lock(&self.operation).clone()
    }

    pub(crate) fn set_operation(&self, operation: Operation) {
        *lock(&self.operation) = operation;
    }

    pub(crate) fn kind(&self) -> CUgraphNodeType {
        kind_of(&self.operation())
    }
}

pub(crate) fn kind_of(operation: &Operation) -> CUgraphNodeType {
    match operation {
        Operation::Kernel(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL,
        Operation::Copy(_) | Operation::StagedCopy(..) => {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY
        }
        Operation::Fill(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET,
        Operation::Host(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
        Operation::Child(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
        Operation::Empty => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY,
        Operation::EventWait(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        Operation::EventRecord(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
        Operation::Allocate { .. } => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        Operation::Free(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE,
        Operation::Conditional(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
    }
}

impl Graph {
    /// A fresh, empty graph.
    pub(crate) fn create(owned: bool) -> Arc<Self> {
        registries().graphs.add(|handle| Self {
            handle,
            owned,
            body: Mutex::default(),
        })
    }

    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        lock(&self.body).nodes.clone()
    }

    pub(crate) fn edges(&self) -> Vec<Edge> {
        lock(&self.body).edges.clone()
    }

    pub(crate) fn conditions(&self) -> Vec<u64> {
        lock(&self.body).conditions.clone()
    }

    pub(crate) fn objects(&self) -> Vec<Arc<UserObject>> {
        lock(&self.body).objects.clone()
    }

    pub(crate) fn add_condition(&self, handle: u64) {
        lock(&self.body).conditions.push(handle);
    }

    pub(crate) fn add_object(&self, object: &Arc<UserObject>, count: usize) {
        lock(&self.body)
            .objects
            .extend(std::iter::repeat_n(object, count).cloned());
    }

    /// Takes `count` references of an object away; `false` if the graph holds fewer.
    pub(crate) fn remove_object(&self, object: &Arc<UserObject>, count: usize) -> bool {
        let mut body = lock(&self.body);
        if body
            .objects
            .iter()
            .filter(|held| Arc::ptr_eq(held, object))
            .count()
            < count
        {
            return false;
        }
        for _ in 0..count {
            if let Some(index) = body
                .objects
                .iter()
                .position(|held| Arc::ptr_eq(held, object))
            {
                body.objects.swap_remove(index);
            }
        }
        true
    }

    /// Adds a node after others.
    pub(crate) fn add(
        &self,
        dependencies: &[(usize, CUgraphEdgeData)],
        operation: Operation,
    ) -> Result<Arc<Node>> {
        let mut body = lock(&self.body);
        let mut seen = HashSet::new();
        for &(from, data) in dependencies {
            if !body.nodes.iter().any(|node| node.handle == from) || !seen.insert(from) {
                return Err(code::INVALID_VALUE);
            }
            check_edge(&body, from, &operation, data)?;
        }
        let node = registries().nodes.add(|handle| Node {
            handle,
            graph: self.handle,
            operation: Mutex::new(operation),
        });
        body.edges
            .extend(dependencies.iter().map(|&(from, data)| Edge {
                from,
                to: node.handle,
                data,
            }));
        body.nodes.push(Arc::clone(&node));
        Ok(node)
    }

    /// Adds edges; refuses those that exist, leave the graph, or close a cycle. All or none are added.
    pub(crate) fn connect(&self, edges: &[Edge]) -> Result {
        let mut body = lock(&self.body);
        let mut all = body.edges.clone();
        for edge in edges {
            let to = body
                .nodes
                .iter()
                .find(|node| node.handle == edge.to)
                .ok_or(code::INVALID_VALUE)?;
            let known = body.nodes.iter().any(|node| node.handle == edge.from);
            let exists = all
                .iter()
                .any(|other| other.from == edge.from && other.to == edge.to);
            if !known || exists || edge.from == edge.to || reaches(&all, edge.to, edge.from) {
                return Err(code::INVALID_VALUE);
            }
            check_edge(&body, edge.from, &to.operation(), edge.data)?;
            all.push(*edge);
        }
        body.edges = all;
        Ok(())
    }

    /// Removes edges; all or none.
    pub(crate) fn disconnect(&self, edges: &[Edge]) -> Result {
        let mut body = lock(&self.body);
        let mut left = body.edges.clone();
        for edge in edges {
            let index = left
                .iter()
                .position(|other| other.from == edge.from && other.to == edge.to);
            left.remove(index.ok_or(code::INVALID_VALUE)?);
        }
        body.edges = left;
        Ok(())
    }

    /// Removes a node and its edges.
    pub(crate) fn remove(&self, node: &Node) {
        let mut body = lock(&self.body);
        body.nodes.retain(|other| other.handle != node.handle);
        body.edges
            .retain(|edge| edge.from != node.handle && edge.to != node.handle);
        drop(body);
        release_node(node);
    }

    /// Whether `from` is `to` or comes before it.
    pub(crate) fn is_before(&self, from: usize, to: usize) -> bool {
        from == to || reaches(&lock(&self.body).edges, from, to)
    }

    /// A copy with new handles, and which new node stands for which old one.
    pub(crate) fn duplicate(&self, owned: bool) -> (Arc<Graph>, HashMap<usize, usize>) {
        let copy = Graph::create(owned);
        let body = lock(&self.body);
        let mut map = HashMap::new();
        let conditions: HashMap<u64, u64> = body
            .conditions
            .iter()
            .map(|&old| (old, copy_condition(old)))
            .collect();
        let mut target = lock(&copy.body);
        for node in &body.nodes {
            let operation = match node.operation() {
                Operation::Child(child) => Operation::Child(child.duplicate(true).0),
                Operation::Conditional(conditional) => {
                    let bodies = conditional
                        .bodies
                        .iter()
                        .map(|body| body.duplicate(true).0)
                        .collect();
                    let handle = conditions
                        .get(&conditional.handle)
                        .copied()
                        .unwrap_or(conditional.handle);
                    Operation::Conditional(Conditional {
                        handle,
                        bodies,
                        ..conditional
                    })
                }
                other => other,
            };
            let new = registries().nodes.add(|handle| Node {
                handle,
                graph: copy.handle,
                operation: Mutex::new(operation),
            });
            map.insert(node.handle, new.handle);
            target.nodes.push(new);
        }
        target.edges = body
            .edges
            .iter()
            .map(|edge| Edge {
                from: map[&edge.from],
                to: map[&edge.to],
                data: edge.data,
            })
            .collect();
        target.conditions = body.conditions.iter().map(|old| conditions[old]).collect();
        target.objects.clone_from(&body.objects);
        drop(target);
        (copy, map)
    }

    /// Forgets all nodes; their handles are invalid from now on.
    pub(crate) fn clear(&self) {
        let body = std::mem::take(&mut *lock(&self.body));
        for node in &body.nodes {
            release_node(node);
        }
    }
}

fn release_node(node: &Node) {
    let nodes: &Registry<Node> = &registries().nodes;
    let _ = nodes.remove(node.handle as *mut ());
    let bodies = match node.operation() {
        Operation::Child(child) => vec![child],
        Operation::Conditional(conditional) => conditional.bodies,
        _ => return,
    };
    for graph in bodies {
        let _ = registries().graphs.remove(graph.handle as *mut ());
        graph.clear();
    }
}

/// Only kernels have outgoing ports besides the default one, only towards kernels, and nothing has further incoming ports.
fn check_edge(body: &Body, from: usize, to: &Operation, data: CUgraphEdgeData) -> Result {
    if data.reserved != [0; 5] || data.to_port != 0 {
        return Err(code::INVALID_VALUE);
    }
    let is_kernel = |operation: &Operation| matches!(operation, Operation::Kernel(_));
    let from_kernel = body
        .nodes
        .iter()
        .any(|node| node.handle == from && is_kernel(&node.operation()));
    match (data.type_, data.from_port) {
        (0, 0) => Ok(()),
        (1, 1 | 2) if from_kernel && is_kernel(to) => Ok(()),
        _ => Err(code::INVALID_VALUE),
    }
}

fn reaches(edges: &[Edge], from: usize, to: usize) -> bool {
    let mut open = vec![from];
    let mut seen = HashSet::new();
    while let Some(node) = open.pop() {
        for edge in edges.iter().filter(|edge| edge.from == node) {
            if edge.to == to {
                return true;
            }
            if seen.insert(edge.to) {
                open.push(edge.to);
            }
        }
    }
    false
}
