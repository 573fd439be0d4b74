//! Graphs as nodes of graphs, and copies of graphs.

use std::collections::HashMap;

use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use super::contents::null_node;
use super::description::Graph;
use super::handle::sealed::Named;
use super::handle::{ChildNode, NodeHandle};
use super::nested;
use super::new_node::NewNode;
use super::part::PartKind;
use super::template::turns;
use crate::driver_call::call;
use crate::error::{Node, Result};

impl GraphBuilder<'_> {
    /// Adds a copy of a graph, as one node: all of it is done before what follows the node. It uses what the graph uses; later changes of the
    /// graph do not show.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let (mut a, mut b) = (stream.zeroed::<u32>(4)?, stream.zeroed::<u32>(4)?);
    /// let mut step = gpu.graph()?;
    /// step.fill(&mut a, 7)?;
    /// step.copy(&a, &mut b)?;
    /// let mut graph = gpu.graph()?;
    /// graph.child(&step)?;
    /// graph.fill(&mut b.slice_mut(..2), 8)?;         // after it: both write `b`
    /// graph.instantiate()?.launch(&stream)?;
    /// assert_eq!(stream.download(&b)?, [8, 8, 7, 7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The graph allocates memory, or has loops or branches; in the body of a loop or a branch, it has nodes that such a body cannot hold, or is
    /// of another device.
    // covers: GRAPH-11
    pub fn child(&mut self, graph: &Graph) -> Result<ChildNode> {
        const CALL: &str = "cuGraphAddChildGraphNode";
        graph.refuse_broken(CALL)?;
        self.include_devices_of(CALL, graph)?;
        nested::refuse_uncopyable(CALL, &graph.contents)?;
        self.gpu.bind()?;
        {
            let turn = graph.template.turn();
            let unfit = graph.contents.outside_of_bodies;
            let unfit = match unfit {
                Some(unfit) => Some(unfit),
                // SAFETY: `graph` owns the graph.
                None => unsafe { nested::find_outside_of_bodies(graph.raw, &turn) }?,
            };
            if let Some(unfit) = unfit {
                self.outside_of_bodies(unfit)?;
            }
            // SAFETY: the nodes are those of `graph`; each executable graph that is made of it sets them anew (`report_to`).
            unsafe { nested::mark(&graph.contents, &turn) }?;
        }
        let uses = graph.contents.memory.clone();
        let before = self.before(&[], &uses)?;
        let node = {
            let _turns = turns(&self.template, &graph.template);
            self.make_in_turn(&before, |new| {
                // SAFETY: `graph` owns the child, which is another one than this.
                unsafe { make_child(new, graph.raw) }
            })?
        };
        self.note(node, PartKind::Child, before, &uses);
        let found = {
            let turn = self.template.turn();
            // SAFETY: the node was made above, as a child graph's, of the graph whose nodes were marked. No method removes nodes.
            unsafe {
                nested::child_of(node.raw(), &turn)
                    .and_then(|copy| nested::find_marked(&graph.contents, copy, self.number, &turn))
            }
        };
        let mut contents = found.inspect_err(|_| self.break_at(node, UNKNOWN_NODES))?;
        contents.inner.push(graph.number);
        self.keep_with(node, |all| all.absorb(contents.clone()));
        Ok(ChildNode::named(node))
    }
}

/// What is wrong with a child graph's node in whose copy some nodes were not found.
pub(super) const UNKNOWN_NODES: &str = "it is a child graph whose copy could not be looked through";

/// Makes a child graph's node.
///
/// # Safety
///
/// The child is alive, and not the graph of the new node.
pub(super) unsafe fn make_child(new: NewNode<'_>, child: raw::CUgraph) -> Result<()> {
    // SAFETY: `new` has a variable for the node and nodes of its graph; the rest the caller says.
    unsafe {
        call!(cuGraphAddChildGraphNode(
            new.node,
            new.graph,
            new.before.as_ptr(),
            new.before.len(),
            child
        ))
    }
}

impl Graph {
    /// A copy of the graph, which shares what its nodes use. Its nodes have names of their own: [`twin`](Self::twin).
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut words = stream.zeroed::<u32>(4)?;
    /// let mut graph = gpu.graph()?;
    /// let fill = graph.fill(&mut words, 7)?;
    /// let mut copy = graph.try_clone()?;
    /// copy.fill(&mut words.slice_mut(..1), 8)?;
    /// let mut ready = copy.instantiate()?;
    /// ready.set_enabled(copy.twin(fill).expect("a node of the original"), false)?;
    /// ready.launch(&stream)?;
    /// assert_eq!(stream.download(&words)?, [8, 0, 0, 0]);
    /// assert_eq!(graph.node_count()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The graph allocates memory, or has loops or branches.
    // covers: GRAPH-18
    pub fn try_clone(&self) -> Result<Graph> {
        const CALL: &str = "cuGraphClone";
        self.refuse_broken(CALL)?;
        nested::refuse_uncopyable(CALL, &self.contents)?;
        self.gpu.bind()?;
        let turn = self.template.turn();
        // SAFETY: the nodes are those of this graph; each executable graph that is made of it sets them anew (`report_to`).
        unsafe { nested::mark(&self.contents, &turn) }?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `handle`, which outlives the call; `self` owns the graph.
        unsafe { call!(cuGraphClone(&mut handle, self.raw)) }?;
        let mut copy = GraphBuilder::new(&self.gpu, handle);
        {
            let own = copy.template.turn();
            // SAFETY: `copy` owns the clone, which was made after the marks were set.
            copy.contents =
                unsafe { nested::find_marked(&self.contents, handle, copy.number, &own) }?;
        }
        let mut twins = HashMap::new();
        // SAFETY: `self` owns the graph.
        for node in unsafe { nested::nodes_of(self.raw, &turn) }? {
            let mut twin = null_node();
            // SAFETY: the driver writes one handle to `twin`, which outlives the call; the node is of the graph that was cloned.
            unsafe { call!(cuGraphNodeFindInClone(&mut twin, node, handle)) }?;
            twins.insert(Node::new(node, self.number), Node::new(twin, copy.number));
        }
        copy.follow_original(self, twins);
        Ok(Graph::own(copy))
    }

    /// The node of this graph that stands for a node of the graph that this is a copy of; `None` for any other node.
    pub fn twin<N: NodeHandle>(&self, node: N) -> Option<N> {
        let node: Node = node.into();
        self.twins.get(&node).map(|twin| N::named(*twin))
    }
}
