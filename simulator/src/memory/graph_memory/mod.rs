//! Memory of graphs: allocations whose addresses belong to nodes, and that live and die in the order in which graphs run.
//!
//! An address is taken when its node is made and kept as long as the node, and any executable graph with it, lives. The memory there is
//! live from the moment at which a launch reaches the allocation node until it is freed. Who may free it, and whether a graph may be
//! launched again, is decided when calls are made, as a driver does; whether an access finds live memory, when it is executed.
//!
//! | file | what |
//! | --- | --- |
//! | `allocation` | an allocation node's memory, and who may free it |
//! | `backing` | the physical memory that graphs take from their device, statistics, trim |
//! | `scope` | which allocations a node of a running graph may use |

mod allocation;
mod backing;
mod scope;

pub(super) use allocation::release_context;
pub(crate) use allocation::{GraphAllocation, Placement, find};
pub(crate) use backing::{Backing, StreamIdentity, attribute, forget_exec, set_attribute, trim};
pub(crate) use scope::{NodeScope, within};
pub(super) use scope::{allows, current};
