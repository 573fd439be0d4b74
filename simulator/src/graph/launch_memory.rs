//! What a launch does to the memory of graphs, as far as calls say: what it allocates and leaves, what it frees of others, and the physical
//! memory that it needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::plan::{Action, Plan};
use crate::error::{Result, code};
use crate::memory::graph_memory::{Backing, GraphAllocation};
use crate::streams::{Operation, Stream};

/// What every launch of an executable graph does.
#[derive(Default)]
pub(super) struct LaunchMemory {
    made: Vec<Arc<GraphAllocation>>,
    /// What it allocates and does not free.
    left: Vec<Arc<GraphAllocation>>,
    /// What it frees and does not allocate.
    foreign: Vec<Arc<GraphAllocation>>,
}

/// One launch that is about to be enqueued.
pub(super) struct BegunLaunch {
    /// What the launch before has left, to be freed first.
    pub(super) leftovers: Vec<Arc<GraphAllocation>>,
    /// The physical memory, if the graph allocates.
    pub(super) backing: Option<Backing>,
}

impl LaunchMemory {
    pub(super) fn of(plan: &Plan) -> Self {
        let (mut made, mut freed) = (Vec::new(), Vec::new());
        collect(plan, &mut made, &mut freed);
        let without = |some: &[Arc<GraphAllocation>], others: &[Arc<GraphAllocation>]| {
            let is_other =
                |one: &Arc<GraphAllocation>| others.iter().any(|other| Arc::ptr_eq(one, other));
            some.iter().filter(|one| !is_other(one)).cloned().collect()
        };
        Self {
            left: without(&made, &freed),
            foreign: without(&freed, &made),
            made,
        }
    }

    /// Whether the graph allocates.
    pub(super) fn is_any(&self) -> bool {
        !self.made.is_empty()
    }

    /// Maps what the graph allocates for launches in a stream; `None` if that is nothing.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub(super) fn map(&self, exec: usize, stream: &Stream) -> Result<Option<Backing>> {
        // What shares an address is never live at the same time.
        let mut sizes = BTreeMap::new();
        for made in &self.made {
            sizes.insert(made.address(), made.placement.bytes.next_multiple_of(512));
        }
        let Some(first) = self.made.first() else {
            return Ok(None);
        };
        let bytes = sizes.values().sum();
        Backing::map(first.placement.device, stream.identity(), exec, bytes).map(Some)
    }

    /// Begins a launch, or changes nothing.
    ///
    /// # Errors
    ///
    /// Invalid value if what the last launch left is not freed, unless that is to be done, or if what the launch frees is not allocated;
    /// out of memory.
    pub(super) fn begin(
        &self,
        exec: usize,
        stream: &Stream,
        auto_free: bool,
    ) -> Result<BegunLaunch> {
        let unfreed = |made: &&Arc<GraphAllocation>| made.is_unfreed();
        let leftovers: Vec<_> = self.left.iter().filter(unfreed).cloned().collect();
        if (!auto_free && !leftovers.is_empty())
            || !self.foreign.iter().all(|freed| freed.is_unfreed())
        {
            return Err(code::INVALID_VALUE);
        }
        let mut freed = Vec::new();
        for leftover in &leftovers {
            freed.push((leftover, leftover.begin_free()?));
        }
        let backing = match self.map(exec, stream) {
            Ok(backing) => backing,
            Err(error) => {
                freed
                    .into_iter()
                    .for_each(|(leftover, backing)| leftover.begin(backing));
                return Err(error);
            }
        };
        for foreign in &self.foreign {
            foreign.begin_free()?;
        }
        if let Some(backing) = backing {
            self.left.iter().for_each(|left| left.begin(backing));
        }
        Ok(BegunLaunch { leftovers, backing })
    }
}

/// What a plan's steps, and those of its child graphs, allocate and free.
fn collect(
    plan: &Plan,
    made: &mut Vec<Arc<GraphAllocation>>,
    freed: &mut Vec<Arc<GraphAllocation>>,
) {
    for step in &plan.nodes {
        match &step.action {
            Action::Single(Operation::GraphAllocate(allocation)) => {
                made.push(Arc::clone(allocation))
            }
            Action::Single(Operation::GraphFree(allocation, _)) => {
                freed.push(Arc::clone(allocation))
            }
            Action::Child(child) => collect(child, made, freed),
            _ => {}
        }
    }
}
