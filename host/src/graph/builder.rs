//! What nodes are added to, a graph or the body of a conditional node, and how a node is added.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, Weak};

use warpsmith_driver::raw;

use super::contents::{Contents, MemoryId, next_number, null_node};
use super::edge::EdgeKind;
use super::followers::Followers;
use super::nested;
use super::new_node::NewNode;
use super::part::{Before, Part, PartKind, Parts};
use super::template::Template;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::open_device::OpenDevice;
use crate::order::entries::Entries;
use crate::order::memory_use::MemoryUse;

/// What nodes are added to: a [`Graph`](crate::Graph), or the body of a loop or a branch.
///
/// Each method adds one node. Its edges: after every earlier node that uses the same memory in a conflicting way, and whatever
/// [`depend`](Self::depend) adds.
///
/// `'body` tells the builders of different bodies apart; that of a [`Graph`](crate::Graph) has `'static`.
pub struct GraphBuilder<'body> {
    /// Before what its nodes use.
    pub(super) template: Arc<Template>,
    pub(crate) gpu: Arc<OpenDevice>,
    pub(crate) raw: raw::CUgraph,
    pub(crate) number: u64,
    /// The number of the graph whose memory the nodes may use: this one, or that of which this is a body.
    pub(super) memory_of: u64,
    /// Held by the executable graph that was made of this last, until the driver has destroyed it.
    pub(super) instance: Mutex<Weak<Instance>>,
    pub(crate) contents: Contents,
    /// The nodes that methods have added, but those that free memory.
    pub(super) parts: Parts,
    /// The edges, but those to nodes that free memory.
    pub(super) followers: Followers,
    /// The uses of memory. The contents keep the memory, so no id is used twice.
    pub(super) uses: HashMap<MemoryId, Entries<Node>>,
    /// Nodes of which it is not known what they use: every new node follows them.
    pub(super) before_all: Vec<Node>,
    /// What these use together.
    pub(super) captured_memory: Vec<MemoryUse>,
    /// The nodes that free memory so far.
    pub(super) frees: Vec<Node>,
    /// Kernels that may end before what is before them, each with the nodes of which that is true.
    pub(super) early: HashMap<Node, Vec<Node>>,
    /// The last node of each flag.
    pub(super) flags: HashMap<usize, Node>,
    /// Why nothing can be made of the graph any more.
    pub(super) broken: Option<Broken>,
    /// The nodes of the graph that this is a copy of, with those that stand for them here.
    pub(super) twins: HashMap<Node, Node>,
    position: BuilderPosition,
    /// Invariant: builders of different bodies have different types, so that safe code cannot swap them.
    brand: PhantomData<fn(&'body ()) -> &'body ()>,
}

/// An executable graph, for the graph that it was made of.
pub(super) struct Instance;

/// What an earlier error has left behind in a graph: nodes cannot be taken out again (a driver refuses it where the graph allocates memory), so no
/// executable graph and no copy is made of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Broken {
    /// The node, or the one whose body it is.
    pub(super) node: Node,
    /// What is wrong with it.
    pub(super) what: &'static str,
}

/// What is wrong with a node that lacks an edge or an attribute.
pub(super) const INCOMPLETE: &str =
    "it is not complete, as the call that added it, or an edge of it, has failed";

/// What a builder adds nodes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BuilderPosition {
    /// A graph.
    Graph,
    /// The body of a conditional node, which cannot hold every type of node.
    Body,
}

impl<'body> GraphBuilder<'body> {
    /// For a graph, which the builder takes over.
    pub(crate) fn new(gpu: &Arc<OpenDevice>, raw: raw::CUgraph) -> GraphBuilder<'body> {
        GraphBuilder::numbered(gpu, raw, next_number())
    }

    /// As [`new`](Self::new), for a graph that had a number before.
    pub(super) fn numbered(
        gpu: &Arc<OpenDevice>,
        raw: raw::CUgraph,
        number: u64,
    ) -> GraphBuilder<'body> {
        GraphBuilder::with(Template::own(gpu, raw), gpu, raw, number)
    }

    /// For the body of a node of this graph or body.
    pub(super) fn body<'inner>(&self, raw: raw::CUgraph) -> GraphBuilder<'inner> {
        let mut body = GraphBuilder::with(self.template.clone(), &self.gpu, raw, next_number());
        body.position = BuilderPosition::Body;
        body.memory_of = self.memory_of;
        body
    }

    fn with(
        template: Arc<Template>,
        gpu: &Arc<OpenDevice>,
        raw: raw::CUgraph,
        number: u64,
    ) -> GraphBuilder<'body> {
        GraphBuilder {
            template,
            gpu: gpu.clone(),
            raw,
            number,
            memory_of: number,
            instance: Mutex::default(),
            contents: Contents::default(),
            parts: Parts::default(),
            followers: Followers::default(),
            uses: HashMap::new(),
            before_all: Vec::new(),
            captured_memory: Vec::new(),
            frees: Vec::new(),
            early: HashMap::new(),
            flags: HashMap::new(),
            broken: None,
            twins: HashMap::new(),
            position: BuilderPosition::Graph,
            brand: PhantomData,
        }
    }

    /// What nodes are added to.
    pub(super) fn position(&self) -> BuilderPosition {
        self.position
    }

    /// Notes that an error has left something behind.
    pub(super) fn break_at(&mut self, node: Node, what: &'static str) {
        self.broken.get_or_insert(Broken { node, what });
    }

    pub(super) fn outside_of_bodies(&mut self, what: &'static str) -> Result<()> {
        if self.position == BuilderPosition::Graph {
            self.contents.outside_of_bodies.get_or_insert(what);
            return Ok(());
        }
        // covers: COND-08
        Err(Error::misuse(
            "cuGraphAddNode",
            Code::NOT_SUPPORTED,
            format!("the body of a loop or a branch cannot hold {what}"),
            "bodies hold kernels that launch no graphs, copies and fills of device memory, empty nodes, child graphs of these, loops and branches",
        ))
    }

    /// Adds a node after all that it must follow.
    pub(super) fn add(
        &mut self,
        uses: &[MemoryUse],
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        self.add_kind(PartKind::Other, &[], uses, make)
    }

    /// As [`add`](Self::add), of this kind, and also after the nodes `after`.
    pub(super) fn add_kind(
        &mut self,
        kind: PartKind,
        after: &[Node],
        uses: &[MemoryUse],
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        let before = self.before(after, uses)?;
        let node = self.make(&before, make)?;
        self.note(node, kind, before, uses);
        Ok(node)
    }

    /// The nodes that a new one must follow which uses this.
    pub(super) fn before(&self, after: &[Node], uses: &[MemoryUse]) -> Result<Vec<Node>> {
        // The node has no name yet; none of the earlier ones has this.
        let new = Node::new(null_node(), self.number);
        let mut before = self.before_all.clone();
        let mut add = |node: Node| {
            if !before.contains(&node) {
                before.push(node);
            }
        };
        after.iter().copied().for_each(&mut add);
        for used in uses {
            if let Some(memory) = used.memory.graph_memory() {
                memory.check_node_of(self.memory_of)?;
            }
            if let Some(entries) = self.uses.get(&MemoryId::of(&*used.memory)) {
                entries
                    .before(&new, &used.access)
                    .into_iter()
                    .for_each(&mut add);
            }
        }
        let mut index = 0;
        while let Some(node) = before.get(index).copied() {
            for open in self.early.get(&node).into_iter().flatten() {
                if !before.contains(open) {
                    before.push(*open);
                }
            }
            index += 1;
        }
        Ok(before)
    }

    /// Makes a node after these, and notes nothing.
    pub(super) fn make(
        &self,
        before: &[Node],
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        let _turn = self.template.turn();
        self.make_in_turn(before, make)
    }

    /// As [`make`](Self::make), where the caller has the template's turn.
    pub(super) fn make_in_turn(
        &self,
        before: &[Node],
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        self.gpu.bind()?;
        let before: Vec<raw::CUgraphNode> = before.iter().map(|node| node.raw()).collect();
        let mut node = null_node();
        self.template.note_change();
        make(NewNode {
            node: &mut node,
            graph: self.raw,
            before: &before,
        })?;
        Ok(Node::new(node, self.number))
    }

    /// Notes a node that was added after these.
    pub(super) fn note(
        &mut self,
        node: Node,
        kind: PartKind,
        before: Vec<Node>,
        uses: &[MemoryUse],
    ) {
        for &earlier in &before {
            self.followers.add(earlier, node);
        }
        let full = |node| Before {
            node,
            edge: EdgeKind::Full,
        };
        self.parts.push(Part {
            node,
            kind,
            contents: Contents::default(),
            before: before.into_iter().map(full).collect(),
        });
        self.note_uses(node, uses);
    }

    /// Notes what a node uses.
    pub(super) fn note_uses(&mut self, node: Node, uses: &[MemoryUse]) {
        for used in uses {
            used.memory.history().join_graph(&self.gpu.lock_order());
            let entries = self.uses.entry(MemoryId::of(&*used.memory)).or_default();
            entries.add(&node, used.access);
        }
        self.keep_with(node, |contents| {
            uses.iter().for_each(|used| contents.add_use(used));
        });
    }

    /// Keeps something for the graph as long as the node is what it is.
    pub(super) fn keep_with(&mut self, node: Node, keep: impl Fn(&mut Contents)) {
        keep(&mut self.contents);
        if let Some(part) = self.parts.get_mut(node) {
            keep(&mut part.contents);
        }
    }

    pub(crate) fn raw_nodes(&self) -> Result<Vec<raw::CUgraphNode>> {
        self.gpu.bind()?;
        // SAFETY: `self` keeps the graph.
        unsafe { nested::nodes_of(self.raw, &self.template.turn()) }
    }
}
