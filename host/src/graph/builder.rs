//! What nodes are added to, a graph or the body of a conditional node; their edges; nodes without memory.

use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, Weak};

use warpsmith_driver::raw;

use super::contents::{Contents, MemoryId, RecordedHost, next_number, null_node};
use super::edge::{Edge, EdgeKind};
use super::followers::Followers;
use super::handle::HostNode;
use super::handle::sealed::Named;
use super::nested;
use super::new_node::NewNode;
use super::part::{Before, Part, PartKind, Parts};
use super::template::Template;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::open_device::OpenDevice;
use crate::order::entries::Entries;
use crate::order::memory_use::MemoryUse;
use crate::stream::host_function::{HostFunction, run_repeated};

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
    uses: HashMap<MemoryId, Entries<Node>>,
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

/// What is wrong with a node some edge of which could not be added.
pub(super) const LACKS_EDGE: &str =
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

    /// For a graph whose nodes were captured: what is added later comes after them.
    pub(crate) fn follow_captured_nodes(&mut self, contents: Contents) -> Result<()> {
        self.captured_memory.clone_from(&contents.memory);
        self.contents = contents;
        // What comes after the last ones comes after all. After a kernel that begins early it need not come after what is before that.
        let mut followed = HashSet::new();
        for edge in self.raw_edges()? {
            self.followers.add(edge.from, edge.to);
            if edge.kind == EdgeKind::Full {
                followed.insert(edge.from);
            }
        }
        let nodes = self.raw_nodes()?.into_iter();
        let mut last = nodes
            .map(|node| Node::new(node, self.number))
            .collect::<Vec<_>>();
        last.retain(|node| !followed.contains(node));
        self.before_all = last;
        Ok(())
    }

    /// Adds a call of a function on the host, at each launch. See [`Stream::host_fn`](crate::Stream::host_fn) for what it may do.
    // covers: GRAPH-05
    pub fn host(&mut self, function: impl Fn() + Send + Sync + 'static) -> Result<HostNode> {
        self.outside_of_bodies("a host function")?;
        // The pointer comes when the graph is made ready.
        let parameters = raw::CUDA_HOST_NODE_PARAMS {
            fn_: Some(run_repeated),
            userData: std::ptr::null_mut(),
        };
        let node = self.add_kind(PartKind::Host, &[], &[], |new| {
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
        let function: HostFunction = Arc::new(function);
        self.keep_with(node, |contents| {
            contents.host_functions.push(RecordedHost {
                node,
                function: function.clone(),
            });
        });
        Ok(HostNode::named(node))
    }

    /// Gives a value to the graph: it is dropped when the graph, its copies and all executable graphs of them are gone and no launch of them runs
    /// (a user object). For what foreign kernels or libraries need by pointers.
    ///
    /// It is dropped by some thread that waits or frees, or on a thread of the driver's, where what it does with this crate is put off or refused, as
    /// in [`host`](Self::host).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let table = Arc::new([1, 2, 3]);
    /// let mut graph = gpu.graph()?;
    /// graph.keep(table.clone());
    /// let ready = graph.instantiate()?;
    /// drop(graph);
    /// assert_eq!(Arc::strong_count(&table), 2);
    /// drop(ready);
    /// gpu.synchronize()?;
    /// assert_eq!(Arc::strong_count(&table), 1);
    /// # Ok(())
    /// # }
    /// ```
    // covers: GRAPH-40, GRAPH-41, GRAPH-42
    pub fn keep(&mut self, value: impl Send + 'static) {
        // Nobody takes the lock: it makes the value `Sync`.
        self.contents.kept.push(Arc::new(Mutex::new(value)));
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
    /// A node belongs to another graph; `after` has an edge from `before` already, of its own or by memory that both use; or the edge would close a
    /// circle, of which the error names the nodes. The graph stays as it was.
    // covers: GRAPH-13
    pub fn depend(&mut self, before: impl Into<Node>, after: impl Into<Node>) -> Result<()> {
        let (before, after) = (before.into(), after.into());
        self.check_own(&[before, after])?;
        self.gpu.bind()?;
        self.followers.check_new_edge(before, after)?;
        self.add_edge(before, after, EdgeKind::Full)?;
        // What comes after a kernel that may end before what is before it comes after that by edges of its own.
        for open in self.early.get(&before).cloned().unwrap_or_default() {
            let known = self.parts.get(after).is_some_and(|part| {
                // One that begins early awaits it by itself, and what comes after that has an edge of its own.
                let waits = |edge: &Before| edge.node == open && edge.edge != EdgeKind::Started;
                part.before.iter().any(waits)
            });
            if !known {
                self.add_edge(open, after, EdgeKind::Full)
                    .inspect_err(|_| self.break_at(after, LACKS_EDGE))?;
            }
        }
        Ok(())
    }

    /// # Errors
    ///
    /// One of the nodes belongs to another graph.
    pub(super) fn check_own(&self, nodes: &[Node]) -> Result<()> {
        match nodes.iter().find(|node| node.graph() != self.number) {
            None => Ok(()),
            Some(node) => Err(Error::misuse(
                "cuGraphAddDependencies",
                Code::INVALID_VALUE,
                format!("{node:?} belongs to another graph"),
                "use this graph's nodes",
            )),
        }
    }

    /// Notes that an error has left something behind.
    pub(super) fn break_at(&mut self, node: Node, what: &'static str) {
        self.broken.get_or_insert(Broken { node, what });
    }

    pub(super) fn add_edge(&mut self, before: Node, after: Node, kind: EdgeKind) -> Result<()> {
        let (from, to) = (before.raw(), after.raw());
        {
            let _turn = self.template.turn();
            self.template.note_change();
            // SAFETY: both nodes are this graph's: `check_own` has compared the graphs, or the caller passes its own. No method removes nodes.
            unsafe {
                match kind {
                    EdgeKind::Full => call!(cuGraphAddDependencies(self.raw, &from, &to, 1)),
                    kind => call!(cuGraphAddDependencies_v2(
                        self.raw,
                        &from,
                        &to,
                        &kind.data(),
                        1
                    )),
                }
            }
        }
        .map_err(|error| error.while_doing(|| format!("from {before:?} to {after:?}")))?;
        self.followers.add(before, after);
        if let Some(part) = self.parts.get_mut(after) {
            part.before.push(Before {
                node: before,
                edge: kind,
            });
        }
        Ok(())
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

    /// The edges, as the driver lists them.
    pub(super) fn raw_edges(&self) -> Result<Vec<Edge>> {
        self.gpu.bind()?;
        let _turn = self.template.turn();
        let mut count = 0;
        let null = std::ptr::null_mut();
        // SAFETY: with null arrays the driver writes the number of edges to `count` only; `self` keeps the graph.
        unsafe {
            call!(cuGraphGetEdges_v2(
                self.raw,
                null,
                null,
                std::ptr::null_mut(),
                &mut count
            ))
        }?;
        let mut from = vec![null_node(); count];
        let mut to = from.clone();
        let mut data = vec![raw::CUgraphEdgeData::default(); count];
        if count > 0 {
            // SAFETY: the arrays have room for `count` entries each; `self` keeps the graph.
            unsafe {
                call!(cuGraphGetEdges_v2(
                    self.raw,
                    from.as_mut_ptr(),
                    to.as_mut_ptr(),
                    data.as_mut_ptr(),
                    &mut count
                ))
            }?;
        }
        let node = |raw| Node::new(raw, self.number);
        Ok(from
            .into_iter()
            .zip(to)
            .zip(&data)
            .take(count)
            .map(|((from, to), data)| Edge {
                from: node(from),
                to: node(to),
                kind: EdgeKind::of(data),
            })
            .collect())
    }

    /// Takes over what is known of the nodes of another graph, of which this is a copy with these nodes; the contents are there already.
    pub(super) fn follow_original(
        &mut self,
        original: &GraphBuilder<'_>,
        twins: HashMap<Node, Node>,
    ) {
        let twin = |node: &Node| twins.get(node).copied().unwrap_or(*node);
        let all = |nodes: &[Node]| nodes.iter().map(twin).collect::<Vec<_>>();
        self.parts = original.parts.renamed(twin, |contents| {
            // The functions' nodes may be inside of others, where only these lists tell.
            for host in &mut contents.host_functions {
                let known = original.contents.host_functions.iter();
                let found = known
                    .zip(&self.contents.host_functions)
                    .find(|(old, _)| old.node == host.node);
                host.node = found.map_or(host.node, |(_, new)| new.node);
            }
        });
        self.uses.clone_from(&original.uses);
        for entries in self.uses.values_mut() {
            entries.replace(|node| Some(twin(node)));
        }
        self.followers = original.followers.renamed(twin);
        self.before_all = all(&original.before_all);
        self.captured_memory.clone_from(&original.captured_memory);
        let early = original.early.iter();
        self.early = early.map(|(node, open)| (twin(node), all(open))).collect();
        let flags = original.flags.iter();
        self.flags = flags.map(|(flag, node)| (*flag, twin(node))).collect();
        self.twins = twins;
    }
}
