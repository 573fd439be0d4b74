//! What threads knew at some time, for those who learn of it later.

use std::sync::Arc;

use super::super::known::{Known, Number};
use super::clocks::Clocks;
use super::knowledge::{Knowledge, WarpClock};
use super::lanes::Lanes;

/// What threads of a warp knew at some time, and what they had done.
#[derive(Clone, Debug)]
pub(in super::super) struct Snapshot<T> {
    block: u32,
    lanes: Lanes<T>,
    /// The epoch that they entered then.
    epoch: u32,
    knowledge: Knowledge,
    /// What they knew of single lanes of their warp.
    of_warp: Option<Box<[u32; 32]>>,
}

impl<T: Number> Clocks<T> {
    /// What a thread knows now; it moves on to a fresh epoch.
    pub fn snapshot(&mut self, thread: T) -> Snapshot<T> {
        let (block, warp, lane) = self.position(thread);
        let epoch = self.fresh();
        let lanes = self.lanes(block, warp, 1 << lane);
        let own = self.lane_clock(thread);
        own.knowledge.now = epoch;
        Snapshot {
            block,
            lanes,
            epoch,
            knowledge: own.knowledge.clone(),
            of_warp: Some(Box::new(own.lanes)),
        }
    }

    /// What all threads of a uniform warp know now; they move on to a fresh epoch.
    pub fn snapshot_warp(&mut self, block: u32, warp: u32) -> Snapshot<T> {
        let epoch = self.fresh();
        let mask = u32::MAX >> (32 - self.warp_size(warp));
        let lanes = self.lanes(block, warp, mask);
        let index = self.warp_index(block, warp);
        let knowledge = match &mut self.warps[index] {
            WarpClock::Uniform(knowledge) => knowledge,
            WarpClock::Diverged(lanes) => &mut lanes[0].knowledge,
        };
        knowledge.now = epoch;
        Snapshot {
            block,
            lanes,
            epoch,
            knowledge: knowledge.clone(),
            of_warp: None,
        }
    }

    /// Adds a snapshot, with what is known of whole blocks spelled out.
    pub fn add_snapshot(&self, known: &mut Known, snapshot: &Snapshot<T>) {
        let knowledge = &snapshot.knowledge;
        known.join(&knowledge.known);
        let none = || vec![0; self.positions.len()].into();
        let each = Arc::make_mut(known.threads.get_or_insert_with(none));
        let raise = |entries: &mut [u32], epoch: u32| {
            entries
                .iter_mut()
                .for_each(|entry| *entry = epoch.max(*entry));
        };
        raise(each, knowledge.cluster);
        let threads = self.threads_of(snapshot.block);
        let first = threads.start;
        let block = &mut each[threads];
        raise(block, knowledge.block);
        let first = snapshot.lanes.first.index() - first;
        let end = block.len().min(first + 32);
        let warp = &mut block[first..end];
        raise(warp, knowledge.warp);
        for (lane, entry) in warp.iter_mut().enumerate() {
            if let Some(of_warp) = &snapshot.of_warp {
                *entry = of_warp[lane].max(*entry);
            }
            if snapshot.lanes.mask >> lane & 1 != 0 {
                *entry = snapshot.epoch.max(*entry);
            }
        }
    }
}
