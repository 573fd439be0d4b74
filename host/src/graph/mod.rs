//! Graphs: work described once and launched many times.
//!
//! A [`Graph`] is the description, built node by node or captured from streams; a [`GraphExec`] is ready to launch. Both keep what
//! their nodes use (memory, modules, functions) alive, and launching one is a use of that memory as a kernel launch is: it is put
//! in order with everything else. Within a graph the order is an edge between nodes; nodes that conflict on memory get theirs by
//! themselves, in the order in which they were added, so that a graph has no races. Memory that a graph allocates for itself (`memory`)
//! is its nodes' alone, from one of its nodes to another. A kernel may launch graphs that were made for it (`device_graph`): what those use its
//! node uses.

mod builder;
mod capture;
mod capture_state;
mod captured_child;
mod captured_keep;
mod child;
mod compiled_clusters;
mod condition_order;
mod conditional;
mod contents;
mod copy;
mod dependencies;
mod description;
mod device_graph;
mod device_rules;
mod devices;
mod edge;
mod event;
mod exec;
mod exec_launch;
mod exec_update;
mod flags;
mod followers;
mod handle;
mod instantiate;
mod kernel;
mod last_handle;
mod memory;
mod nested;
mod new_node;
mod node_attributes;
mod node_launch;
mod node_update;
mod panic_sources;
mod part;
mod plain;
mod planned_copy;
mod semaphore;
mod taken_over;
mod template;

pub use self::builder::GraphBuilder;
pub use self::capture::Capture;
pub use self::conditional::Condition;
pub use self::description::Graph;
pub use self::device_graph::DeviceGraph;
pub use self::edge::{Edge, EdgeKind};
pub use self::exec::GraphExec;
pub use self::handle::{
    ChildNode, CopyNode, EventRecordNode, EventWaitNode, FillNode, FlagNode, HostNode, KernelNode,
    NodeHandle, SwitchableNode,
};
