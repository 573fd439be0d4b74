//! Names of nodes.

use std::fmt;

use warpsmith_driver::raw;

/// A node of a graph, as a name: it keeps nothing alive.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node {
    handle: usize,
    /// The graph's number.
    graph: u64,
}

impl Node {
    pub(crate) fn new(node: raw::CUgraphNode, graph: u64) -> Node {
        Node {
            handle: node as usize,
            graph,
        }
    }

    pub(crate) fn raw(self) -> raw::CUgraphNode {
        self.handle as raw::CUgraphNode
    }

    pub(crate) fn graph(self) -> u64 {
        self.graph
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {:#x}", self.handle)
    }
}
