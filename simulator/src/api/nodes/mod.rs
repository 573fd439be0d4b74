//! Nodes of graphs: one file a family of node types.

mod add;
pub(super) mod allocation;
pub(super) mod any;
pub(super) mod batch;
pub(super) mod host;
pub(super) mod kernel;
pub(super) mod memory;
pub(super) mod semaphore;

pub(super) use add::check_context;
