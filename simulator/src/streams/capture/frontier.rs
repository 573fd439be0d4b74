//! Where a stream stands in the graph that its capture makes.

use warpsmith_abi::CUgraphEdgeData;

/// A node that the next captured item depends on, with the data of the edge.
#[derive(Clone, Copy)]
pub(crate) struct Dependency {
    /// The node's handle.
    pub(crate) node: usize,
    pub(crate) edge: CUgraphEdgeData,
}

/// The nodes that the next captured item depends on.
pub(crate) type Frontier = Vec<Dependency>;

/// How `cuStreamUpdateCaptureDependencies` changes a stream's dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DependencyUpdate {
    /// The given ones are added.
    Add,
    /// Only the given ones are left.
    Replace,
}

/// Adds those that are not there yet.
pub(super) fn add_dependencies(frontier: &mut Frontier, more: &[Dependency]) {
    for dependency in more {
        if !frontier.iter().any(|known| known.node == dependency.node) {
            frontier.push(*dependency);
        }
    }
}
