//! Graphs that kernels launch, as the work sees them whose kernels are passed one: which memory that work then uses, and what it keeps.
//!
//! Work that may launch a graph uses all that the graph does, and the graph itself: its [`Turn`] is memory that each launch, by the host or
//! by a kernel, and each upload writes. So by the rule of order no two of these run at the same time, which the driver leaves undefined.

use std::any::Any;
use std::sync::Arc;

use super::access::Access;
use super::history::{OrderedMemory, UseHistory};
use super::memory_use::MemoryUse;
use crate::panics::reports::PanicSource;

/// What there is to know of a graph for work that may launch it.
pub(crate) struct LaunchableGraph {
    /// The executable graph's handle, which is the same on the device.
    pub(crate) handle: u64,
    /// All that launches of it use, its turn among it, and what the graphs use that its own kernels may launch.
    pub(crate) uses: Vec<MemoryUse>,
    /// Where its kernels tell of panics, and those of the graphs that they may launch.
    pub(crate) panics: Vec<Arc<PanicSource>>,
    /// The executable graph, whose destructor waits for all that is enqueued.
    pub(crate) exec: Arc<dyn Any + Send + Sync>,
}

/// What launches of one graph take one after the other.
#[derive(Default)]
pub(crate) struct Turn {
    history: UseHistory,
}

impl Turn {
    /// The use by a launch or an upload.
    pub(crate) fn taken(self: &Arc<Self>) -> MemoryUse {
        MemoryUse {
            memory: self.clone(),
            access: Access::EVERYTHING,
        }
    }
}

impl OrderedMemory for Turn {
    fn history(&self) -> &UseHistory {
        &self.history
    }
}
