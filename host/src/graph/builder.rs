//! What nodes are added to, a graph or the body of a conditional node; their edges; nodes without memory.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, Weak};

use warpsmith_driver::raw;

use super::contents::{Contents, HostNode, MemoryId, next_number, null_node};
use super::new_node::NewNode;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::open_device::OpenDevice;
use crate::order::entries::Entries;
use crate::order::memory_use::MemoryUse;
use crate::stream::host_function::run_repeated;

/// What nodes are added to: a [`Graph`](crate::Graph), or the body of a loop or a branch.
///
/// Each method adds one node. Its edges: after every earlier node that uses the same memory in a conflicting way, and whatever
/// [`depend`](Self::depend) adds.
///
/// `'body` tells the builders of different bodies apart; that of a [`Graph`](crate::Graph) has `'static`.
pub struct GraphBuilder<'body> {
    pub(crate) gpu: Arc<OpenDevice>,
    pub(crate) raw: raw::CUgraph,
    pub(crate) number: u64,
    /// The number of the graph whose memory the nodes may use: this one, or that of which this is a body.
    pub(super) memory_of: u64,
    /// Held by the executable graph that was made of this last, until the driver has destroyed it.
    pub(super) instance: Mutex<Weak<Instance>>,
    pub(crate) contents: Contents,
    /// The uses of memory. The contents keep the memory, so no id is used twice.
    uses: HashMap<MemoryId, Entries<Node>>,
    /// Nodes of which it is not known what they use: every new node follows them.
    pub(super) before_all: Vec<Node>,
    /// The nodes that free memory so far.
    pub(super) frees: Vec<Node>,
    position: BuilderPosition,
    /// Invariant: builders of different bodies have different types, so that safe code cannot swap them.
    brand: PhantomData<fn(&'body ()) -> &'body ()>,
    pub(super) unused_conditions: Vec<u64>,
}

/// An executable graph, for the graph that it was made of.
pub(super) struct Instance;

/// What a builder adds nodes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BuilderPosition {
    /// A graph.
    Graph,
    /// The body of a conditional node, which cannot hold every type of node.
    Body,
}

impl<'body> GraphBuilder<'body> {
    pub(crate) fn new(gpu: &Arc<OpenDevice>, raw: raw::CUgraph) -> GraphBuilder<'body> {
        let number = next_number();
        GraphBuilder {
            gpu: gpu.clone(),
            raw,
            number,
            memory_of: number,
            instance: Mutex::default(),
            contents: Contents::default(),
            uses: HashMap::new(),
            before_all: Vec::new(),
            frees: Vec::new(),
            position: BuilderPosition::Graph,
            brand: PhantomData,
            unused_conditions: Vec::new(),
        }
    }

    /// For a graph whose nodes were captured: what is added later comes after them.
    pub(crate) fn follow_captured_nodes(&mut self, contents: Contents) -> Result<()> {
        self.contents = contents;
        self.before_all = self
            .raw_nodes()?
            .into_iter()
            .map(|node| Node::new(node, self.number))
            .collect();
        Ok(())
    }

    /// Adds a call of a function on the host, at each launch. See [`Stream::host_fn`](crate::Stream::host_fn) for what it may do.
    // covers: GRAPH-05
    pub fn host(&mut self, function: impl Fn() + Send + Sync + 'static) -> Result<Node> {
        self.outside_of_bodies("a host function")?;
        // The pointer comes when the graph is made ready.
        let parameters = raw::CUDA_HOST_NODE_PARAMS {
            fn_: Some(run_repeated),
            userData: std::ptr::null_mut(),
        };
        let node = self.add(&[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies `parameters`, and calls nothing before
            // the graph is launched, which `instantiate` gives the pointer for that `run_repeated` asks for.
            unsafe {
                call!(cuGraphAddHostNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &parameters
                ))
            }
        })?;
        self.contents.host_functions.push(HostNode {
            node,
            function: Arc::new(function),
        });
        Ok(node)
    }

    /// Adds a node that does nothing, as a joint of edges.
    // covers: GRAPH-08
    pub fn empty(&mut self) -> Result<Node> {
        self.add(&[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph.
            unsafe {
                call!(cuGraphAddEmptyNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len()
                ))
            }
        })
    }

    /// Lets `after` wait for `before`.
    ///
    /// # Errors
    ///
    /// A node belongs to another graph, the edge exists, or it would close a circle.
    // covers: GRAPH-13
    pub fn depend(&mut self, before: Node, after: Node) -> Result<()> {
        const CALL: &str = "cuGraphAddDependencies";
        for node in [before, after] {
            if node.graph() != self.number {
                return Err(Error::misuse(
                    CALL,
                    Code::INVALID_VALUE,
                    format!("{node:?} belongs to another graph"),
                    "use this graph's nodes",
                ));
            }
        }
        self.gpu.bind()?;
        self.add_edge(before, after)
    }

    pub(super) fn add_edge(&self, before: Node, after: Node) -> Result<()> {
        let (from, to) = (before.raw(), after.raw());
        // SAFETY: both nodes are this graph's: `depend` compares the graphs, the others pass their own. No method removes nodes.
        unsafe { call!(cuGraphAddDependencies(self.raw, &from, &to, 1)) }
            .map_err(|error| error.while_doing(|| format!("from {before:?} to {after:?}")))
    }

    pub(super) fn outside_of_bodies(&self, what: &str) -> Result<()> {
        if self.position == BuilderPosition::Graph {
            return Ok(());
        }
        // covers: COND-08
        Err(Error::misuse(
            "cuGraphAddNode",
            Code::NOT_SUPPORTED,
            format!("the body of a loop or a branch cannot hold {what}"),
            "bodies hold kernels that launch no graphs, copies and fills of device memory, empty nodes, loops and branches",
        ))
    }

    /// Adds a node after all that it must follow.
    pub(super) fn add(
        &mut self,
        uses: &[MemoryUse],
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        let node = self.make(uses, make)?;
        for used in uses {
            self.note_use(node, used);
        }
        for used in uses {
            self.contents.add_use(used);
        }
        Ok(node)
    }

    /// Makes a node after all that it must follow, and notes nothing.
    pub(super) fn make(
        &self,
        uses: &[MemoryUse],
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        self.gpu.bind()?;
        // The node has no name yet; none of the earlier ones has this.
        let new = Node::new(null_node(), self.number);
        let mut before = self.before_all.clone();
        for used in uses {
            if let Some(memory) = used.memory.graph_memory() {
                memory.check_node_of(self.memory_of)?;
            }
            if let Some(entries) = self.uses.get(&MemoryId::of(&*used.memory)) {
                for node in entries.before(&new, &used.access) {
                    if !before.contains(&node) {
                        before.push(node);
                    }
                }
            }
        }
        let before: Vec<raw::CUgraphNode> = before.into_iter().map(Node::raw).collect();
        let mut node = null_node();
        make(NewNode {
            node: &mut node,
            graph: self.raw,
            before: &before,
        })?;
        Ok(Node::new(node, self.number))
    }

    /// Notes a node's use; gives the nodes that it must follow.
    pub(super) fn note_use(&mut self, node: Node, used: &MemoryUse) -> Vec<Node> {
        used.memory.history().join_graph(&self.gpu.lock_order());
        let entries = self.uses.entry(MemoryId::of(&*used.memory)).or_default();
        let before = entries.before(&node, &used.access);
        entries.add(&node, used.access);
        before
    }

    pub(super) fn set_position(&mut self, position: BuilderPosition) {
        self.position = position;
    }

    pub(crate) fn raw_nodes(&self) -> Result<Vec<raw::CUgraphNode>> {
        self.gpu.bind()?;
        let mut count = 0;
        // SAFETY: with a null array the driver writes the number of nodes to `count` only; `self` keeps the graph.
        unsafe { call!(cuGraphGetNodes(self.raw, std::ptr::null_mut(), &mut count)) }?;
        let mut nodes = vec![null_node(); count];
        if count > 0 {
            // SAFETY: `nodes` has room for `count` nodes; `self` keeps the graph.
            unsafe { call!(cuGraphGetNodes(self.raw, nodes.as_mut_ptr(), &mut count)) }?;
            nodes.truncate(count);
        }
        Ok(nodes)
    }
}
