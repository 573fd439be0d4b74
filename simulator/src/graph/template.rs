//! The editable graph: nodes, what they do, and the edges between them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::edge::{Edge, reaches};
use super::objects::UserObject;
use crate::device_runtime::conditions;
use crate::error::{Result, code};
use crate::registry::Registry;
use crate::streams::Operation;
use crate::streams::capture::Dependency;
use crate::sync::lock;
use warpsmith_abi::{CUgraphEdgeData, CUgraphNodeType};

/// All graphs, also those that belong to a node.
pub(crate) static GRAPHS: Registry<Graph> = Registry::with_invalid_null();

/// All nodes of all graphs.
pub(crate) static NODES: Registry<Node> = Registry::with_invalid_null();

/// Kept by an executable graph, known to the graph that it was made of.
pub(crate) struct Instance;

/// A graph.
pub(crate) struct Graph {
    pub(crate) handle: usize,
    /// It belongs to a node (a child graph or a conditional body) and ends with it.
    owned: AtomicBool,
    /// Lives as long as the executable graph that was made of it last.
    pub(super) instance: Mutex<Weak<Instance>>,
    body: Mutex<GraphBody>,
}

#[derive(Default)]
struct GraphBody {
    nodes: Vec<Arc<Node>>,
    edges: Vec<Edge>,
    /// Conditional handles created on this graph, in order.
    conditions: Vec<Arc<conditions::Owned>>,
    objects: Vec<Arc<UserObject>>,
}

/// A node.
pub(crate) struct Node {
    pub(crate) handle: usize,
    pub(crate) graph: usize,
    operation: Mutex<NodeOperation>,
}

/// What a node does.
#[derive(Clone)]
pub(crate) enum NodeOperation {
    /// What a stream can do too.
    Single(Operation),
    /// A graph as one node; the graph belongs to the node.
    Child(Arc<Graph>),
    Conditional(Conditional),
}

/// A conditional node's operation.
#[derive(Clone)]
pub(crate) struct Conditional {
    /// The conditional handle.
    pub(crate) handle: u64,
    pub(crate) kind: ConditionalKind,
    /// The device of its context, on which its bodies run.
    pub(crate) device: usize,
    pub(crate) bodies: Vec<Arc<Graph>>,
    /// The handles of the bodies, which a program may read here as long as the node exists.
    lent: Arc<[usize]>,
}

impl Conditional {
    pub(crate) fn new(
        handle: u64,
        kind: ConditionalKind,
        device: usize,
        bodies: Vec<Arc<Graph>>,
    ) -> Self {
        Self {
            handle,
            kind,
            device,
            lent: bodies.iter().map(|body| body.handle).collect(),
            bodies,
        }
    }

    /// Where the handles of the bodies are: an array of the node's.
    pub(crate) fn lent_bodies(&self) -> *const usize {
        self.lent.as_ptr()
    }
}

/// What a conditional node does with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionalKind {
    /// First body if the value is not zero, second body (if any) otherwise.
    If,
    /// The body as long as the value is not zero.
    While,
    /// The body of that number.
    Switch,
}

impl From<Operation> for NodeOperation {
    fn from(operation: Operation) -> Self {
        Self::Single(operation)
    }
}

impl NodeOperation {
    /// The node's type as the driver names it.
    pub(crate) fn node_type(&self) -> CUgraphNodeType {
        match self {
            Self::Single(operation) => node_type_of(operation),
            Self::Child(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
            Self::Conditional(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        }
    }

    /// The graphs that belong to the node.
    pub(crate) fn inner_graphs(&self) -> &[Arc<Graph>] {
        match self {
            Self::Single(_) => &[],
            Self::Child(child) => std::slice::from_ref(child),
            Self::Conditional(conditional) => &conditional.bodies,
        }
    }
}

impl Node {
    pub(crate) fn operation(&self) -> NodeOperation {
        lock(&self.operation).clone()
    }

    pub(crate) fn set_operation(&self, operation: NodeOperation) {
        *lock(&self.operation) = operation;
    }

    /// The operation of a node that a stream could execute too.
    pub(crate) fn single_operation(&self) -> Option<Operation> {
        match self.operation() {
            NodeOperation::Single(operation) => Some(operation),
            NodeOperation::Child(_) | NodeOperation::Conditional(_) => None,
        }
    }
}

/// The node type of a single operation.
pub(crate) fn node_type_of(operation: &Operation) -> CUgraphNodeType {
    match operation {
        Operation::Kernel(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL,
        Operation::Copy(_) | Operation::StagedCopy(..) => {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY
        }
        Operation::Fill(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET,
        Operation::Memory(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
        Operation::SemaphoreSignal(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
        Operation::SemaphoreWait(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT,
        Operation::Host(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
        // No capture takes a discard, of which there is no kind of node.
        Operation::Empty | Operation::Discard(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY,
        Operation::EventWait(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        Operation::EventRecord(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
        Operation::GraphAllocate(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        Operation::Free(_) | Operation::GraphFree(..) => {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE
        }
    }
}

impl Graph {
    /// A fresh, empty graph.
    pub(crate) fn create(owned: bool) -> Arc<Self> {
        GRAPHS.add(|handle| Self {
            handle,
            owned: AtomicBool::new(owned),
            instance: Mutex::default(),
            body: Mutex::default(),
        })
    }

    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        lock(&self.body).nodes.clone()
    }

    pub(crate) fn edges(&self) -> Vec<Edge> {
        lock(&self.body).edges.clone()
    }

    pub(crate) fn conditions(&self) -> Vec<Arc<conditions::Owned>> {
        lock(&self.body).conditions.clone()
    }

    pub(crate) fn objects(&self) -> Vec<Arc<UserObject>> {
        lock(&self.body).objects.clone()
    }

    /// The references of this graph and of those inside it, each with the handle of the node that holds the inner graph; 0 for its own.
    pub(crate) fn all_objects(&self) -> Vec<(usize, Arc<UserObject>)> {
        let own = self.objects().into_iter().map(|object| (0, object));
        let nodes = self.nodes().into_iter();
        let inner = nodes.flat_map(|node| {
            let graphs = match node.operation() {
                NodeOperation::Single(_) => Vec::new(),
                NodeOperation::Child(child) => vec![child],
                NodeOperation::Conditional(conditional) => conditional.bodies,
            };
            let objects = graphs.into_iter().flat_map(|graph| graph.all_objects());
            objects.map(move |(holder, object)| match holder {
                0 => (node.handle, object),
                _ => (holder, object),
            })
        });
        own.chain(inner).collect()
    }

    /// Makes a conditional handle for a node of this graph.
    pub(crate) fn create_condition(&self, default: u32, assign_default: bool) -> u64 {
        let condition = conditions::create(default, assign_default);
        let handle = condition.handle;
        lock(&self.body).conditions.push(condition);
        handle
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
    pub(super) fn add(
        &self,
        dependencies: &[Dependency],
        operation: NodeOperation,
    ) -> Result<Arc<Node>> {
        let mut body = lock(&self.body);
        let mut seen = HashSet::new();
        for dependency in dependencies {
            let from = dependency.node;
            if !body.nodes.iter().any(|node| node.handle == from) || !seen.insert(from) {
                return Err(code::INVALID_VALUE);
            }
            check_edge(&body, from, &operation, dependency.edge)?;
        }
        let node = NODES.add(|handle| Node {
            handle,
            graph: self.handle,
            operation: Mutex::new(operation),
        });
        body.edges
            .extend(dependencies.iter().map(|dependency| Edge {
                from: dependency.node,
                to: node.handle,
                data: dependency.edge,
            }));
        body.nodes.push(Arc::clone(&node));
        Ok(node)
    }

    /// Whether a conditional handle was made for this graph.
    pub(crate) fn has_condition(&self, handle: u64) -> bool {
        let body = lock(&self.body);
        body.conditions.iter().any(|known| known.handle == handle)
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

    /// Makes the graph a node's, if it is nobody's yet.
    pub(crate) fn give_to_node(&self) -> Result {
        match self.owned.swap(true, Ordering::AcqRel) {
            true => Err(code::INVALID_VALUE),
            false => Ok(()),
        }
    }

    /// Whether the graph belongs to a node.
    pub(crate) fn is_owned(&self) -> bool {
        self.owned.load(Ordering::Acquire)
    }

    /// A copy with new handles, and which new node stands for which old one.
    pub(crate) fn duplicate(&self, owned: bool) -> (Arc<Graph>, HashMap<usize, usize>) {
        let copy = Graph::create(owned);
        let body = lock(&self.body);
        let mut map = HashMap::new();
        let copied_conditions: HashMap<u64, Arc<conditions::Owned>> = body
            .conditions
            .iter()
            .map(|old| (old.handle, conditions::duplicate(old.handle)))
            .collect();
        let mut target = lock(&copy.body);
        for node in &body.nodes {
            let operation = match node.operation() {
                NodeOperation::Child(child) => NodeOperation::Child(child.duplicate(true).0),
                NodeOperation::Conditional(conditional) => {
                    let bodies = conditional
                        .bodies
                        .iter()
                        .map(|body| body.duplicate(true).0)
                        .collect();
                    let handle = copied_conditions
                        .get(&conditional.handle)
                        .map_or(conditional.handle, |copy| copy.handle);
                    let Conditional { kind, device, .. } = conditional;
                    NodeOperation::Conditional(Conditional::new(handle, kind, device, bodies))
                }
                single => single,
            };
            let new = NODES.add(|handle| Node {
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
        target.conditions = body
            .conditions
            .iter()
            .map(|old| Arc::clone(&copied_conditions[&old.handle]))
            .collect();
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

/// Ends a node's handle and the graphs that belong to it.
fn release_node(node: &Node) {
    let _ = NODES.remove(node.handle as *mut ());
    for graph in node.operation().inner_graphs() {
        let _ = GRAPHS.remove(graph.handle as *mut ());
        graph.clear();
    }
}

/// Only kernels have outgoing ports besides the default one, only towards kernels, and nothing has further incoming ports.
fn check_edge(body: &GraphBody, from: usize, to: &NodeOperation, data: CUgraphEdgeData) -> Result {
    if data.reserved != [0; 5] || data.to_port != 0 {
        return Err(code::INVALID_VALUE);
    }
    let is_kernel = |operation: &NodeOperation| {
        matches!(operation, NodeOperation::Single(Operation::Kernel(_)))
    };
    let from_kernel = body
        .nodes
        .iter()
        .any(|node| node.handle == from && is_kernel(&node.operation()));
    match (data.type_, data.from_port) {
        (0, 0) => Ok(()),
        (1, 1 | 2) if from_kernel && is_kernel(to) => Ok(()),
        // Without a promise of memory, so to any node.
        (0, 2) if from_kernel => Ok(()),
        _ => Err(code::INVALID_VALUE),
    }
}
