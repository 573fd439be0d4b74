//! Names of nodes by what they do: what [`GraphExec`](crate::GraphExec) changes them by.

use crate::error::Node;

pub(super) mod sealed {
    use super::super::part::PartKind;
    use crate::error::Node;

    /// Keeps the names to this crate: each is of a node of its kind.
    pub trait Named {
        #[doc(hidden)]
        fn named(node: Node) -> Self;
    }

    /// What the node is, for messages.
    pub(in super::super) fn kind_name(kind: &PartKind) -> &'static str {
        match kind {
            PartKind::Kernel(_) => "a kernel",
            PartKind::Copy(_) => "a copy",
            PartKind::Fill(_) => "a fill",
            PartKind::Host => "a function on the host",
            PartKind::Child => "a child graph",
            PartKind::EventRecord => "the recording of an event",
            PartKind::EventWait => "a wait for an event",
            PartKind::Flags => "an operation on flags",
            PartKind::Other => "a node that does nothing (a copy or fill of no memory is one)",
        }
    }
}

/// A name of a node by its kind. The nodes of a graph and their names are `Copy`; they keep nothing alive.
pub trait NodeHandle: Copy + Into<Node> + sealed::Named {}

/// A node that can be switched off in an executable graph: [`GraphExec::set_enabled`](crate::GraphExec::set_enabled).
pub trait SwitchableNode: NodeHandle {}

macro_rules! handles {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(Node);

        impl $name {
            /// The node, without what it is.
            pub fn node(self) -> Node {
                self.0
            }
        }

        impl From<$name> for Node {
            fn from(handle: $name) -> Node {
                handle.0
            }
        }

        impl sealed::Named for $name {
            fn named(node: Node) -> Self {
                $name(node)
            }
        }

        impl NodeHandle for $name {}
    )*};
}

handles! {
    /// A launch of a kernel.
    KernelNode;
    /// A copy.
    CopyNode;
    /// A fill.
    FillNode;
    /// A call of a function on the host.
    HostNode;
    /// A graph as one node.
    ChildNode;
    /// The recording of an event.
    EventRecordNode;
    /// A wait for an event.
    EventWaitNode;
    /// Waits for flags, and writes of them.
    FlagNode;
}

impl SwitchableNode for KernelNode {}
impl SwitchableNode for CopyNode {}
impl SwitchableNode for FillNode {}
