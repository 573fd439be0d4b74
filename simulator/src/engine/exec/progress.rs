//! How many blocks of a grid have begun, and how many let dependent grids begin.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::environment::GridOrder;

/// Counts the blocks of a grid, and tells when all have come to a point.
pub(crate) struct Progress<'a> {
    order: &'a dyn GridOrder,
    /// Blocks of the grid.
    blocks: u64,
    started: AtomicU64,
    signalled: AtomicU64,
}

impl<'a> Progress<'a> {
    pub fn new(order: &'a dyn GridOrder, blocks: u64) -> Progress<'a> {
        Progress {
            order,
            blocks,
            started: AtomicU64::new(0),
            signalled: AtomicU64::new(0),
        }
    }

    /// So many blocks begin.
    pub fn start(&self, blocks: u32) {
        if self.is_last(&self.started, blocks) {
            self.order.all_blocks_started();
        }
    }

    /// A block has executed `griddepcontrol.launch_dependents` for the first time, or exited without.
    pub fn signal(&self) {
        if self.is_last(&self.signalled, 1) {
            self.order.all_blocks_signalled();
        }
    }

    /// Waits for the grids that this one depends on; false if this one is to end, too.
    pub fn wait(&self) -> bool {
        self.order.wait_for_prerequisites()
    }

    fn is_last(&self, counter: &AtomicU64, blocks: u32) -> bool {
        let before = counter.fetch_add(blocks.into(), Ordering::AcqRel);
        before + u64::from(blocks) == self.blocks
    }
}
