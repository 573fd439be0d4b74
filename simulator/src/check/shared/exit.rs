//! Threads that leave the kernel, and the exit of their block: its shared memory is gone then, for the other blocks of the cluster, too.
//!
//! A block exits with its last thread. What happened before the exit of any of its threads happened before that of the block, so an
//! access by another block is ordered before it if some thread had seen it when it exited. What accesses come later, by another schedule
//! of the same program, is the engine's to find: the memory is gone.

use super::super::finding::{Finding, ThreadExit};
use super::SharedMemory;
use super::races::Races;

impl SharedMemory {
    /// Lanes of a warp leave the kernel, by an instruction. `is_last`: no thread of the block is left.
    pub fn exit(&mut self, exit: ThreadExit, mask: u32, is_last: bool) {
        if let Some(races) = &mut self.races {
            races.order.clocks.exit(exit.block, mask);
            if is_last {
                let found = races.unordered_with_exit(exit);
                self.unordered_exit = self.unordered_exit.or(found);
            }
        }
    }
}

impl Races {
    /// An access by another block to the memory of a block that exits, which is not ordered before.
    fn unordered_with_exit(&mut self, exit: ThreadExit) -> Option<Finding> {
        if !self.has_foreign(exit.block) {
            return None;
        }
        let bytes = (exit.block * self.stride, self.stride);
        let clocks = &self.order.clocks;
        let (earlier, at) = self.shadow.unseen_by_block(clocks, exit.block, bytes)?;
        Some(Finding::Exit {
            access: self.order.name_earlier(&earlier),
            exit,
            offset: at % self.stride,
        })
    }
}
