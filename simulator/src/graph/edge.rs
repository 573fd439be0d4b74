//! Edges between the nodes of a graph.

use std::collections::HashSet;

use crate::streams::capture::Dependency;
use warpsmith_abi::CUgraphEdgeData;

/// The data of an edge for which the program gave none: a full dependency.
pub(crate) const PLAIN_EDGE: CUgraphEdgeData = CUgraphEdgeData {
    from_port: 0,
    to_port: 0,
    type_: 0,
    reserved: [0; 5],
};

/// The downstream kernel may begin when all blocks of the upstream one have signalled, and its `griddepcontrol.wait` waits for the end.
pub(crate) const PROGRAMMATIC_EDGE: CUgraphEdgeData = CUgraphEdgeData {
    from_port: 1,
    type_: 1,
    ..PLAIN_EDGE
};

/// As [`PROGRAMMATIC_EDGE`], when all blocks have begun.
pub(crate) const PROGRAMMATIC_AT_START: CUgraphEdgeData = CUgraphEdgeData {
    from_port: 2,
    ..PROGRAMMATIC_EDGE
};

/// What follows may begin when all blocks of the upstream kernel have begun, and is told nothing of its end.
pub(crate) const STARTED_EDGE: CUgraphEdgeData = CUgraphEdgeData {
    from_port: 2,
    ..PLAIN_EDGE
};

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

impl Dependency {
    /// A full dependency on a node.
    pub(crate) fn plain(node: usize) -> Self {
        Self {
            node,
            edge: PLAIN_EDGE,
        }
    }
}

/// Whether a path of edges leads from one node to another.
pub(super) fn reaches(edges: &[Edge], from: usize, to: usize) -> bool {
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
