//! Edges: which node of a graph waits for which, and for what of it.

use warpsmith_driver::raw;

use crate::error::Node;
use crate::launch::Trigger;

/// An edge of a graph: `to` waits for `from`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// The node that comes first.
    pub from: Node,
    /// The node that waits for it.
    pub to: Node,
    /// What it waits for.
    pub kind: EdgeKind,
}

/// What a node waits for by an edge.
// covers: GRAPH-14
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum EdgeKind {
    /// For the end of the other one, and it sees all that was written.
    #[default]
    Full,
    /// A kernel that may begin at this point of the kernel before it, and waits for its end by itself
    /// ([`GraphBuilder::kernel_early`](crate::GraphBuilder::kernel_early)).
    Programmatic(Trigger),
    /// Until all blocks of the kernel before it have begun, and for nothing that it writes
    /// ([`GraphBuilder::depend_started`](crate::GraphBuilder::depend_started)).
    Started,
}

/// The outgoing port of a kernel that stands for all its blocks having signalled or exited (`CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC`).
const SIGNALLED: u8 = 1;
/// That for all its blocks having begun (`CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER`).
const STARTED: u8 = 2;
/// `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`
const PROGRAMMATIC: u8 = 1;

impl EdgeKind {
    pub(super) fn data(self) -> raw::CUgraphEdgeData {
        let (from_port, type_) = match self {
            EdgeKind::Full => (0, 0),
            EdgeKind::Programmatic(Trigger::BlocksSignalled) => (SIGNALLED, PROGRAMMATIC),
            EdgeKind::Programmatic(Trigger::BlocksStarted) => (STARTED, PROGRAMMATIC),
            EdgeKind::Started => (STARTED, 0),
        };
        raw::CUgraphEdgeData {
            from_port,
            type_,
            ..Default::default()
        }
    }

    pub(super) fn of(data: &raw::CUgraphEdgeData) -> EdgeKind {
        match (data.from_port, data.type_) {
            (STARTED, PROGRAMMATIC) => EdgeKind::Programmatic(Trigger::BlocksStarted),
            (_, PROGRAMMATIC) => EdgeKind::Programmatic(Trigger::BlocksSignalled),
            (STARTED, _) => EdgeKind::Started,
            _ => EdgeKind::Full,
        }
    }
}
