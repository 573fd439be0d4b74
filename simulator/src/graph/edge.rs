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
