//! Uses of memory that are to come: what a node of a graph does at each launch.

use std::sync::Arc;

use super::access::Access;
use super::history::OrderedMemory;

/// Memory that work uses, and what it does to it.
#[derive(Clone)]
pub(crate) struct MemoryUse {
    pub(crate) memory: Arc<dyn OrderedMemory>,
    pub(crate) access: Access,
}
