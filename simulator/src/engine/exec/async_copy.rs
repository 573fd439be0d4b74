//! Asynchronous operations of a warp that are not done: copies to shared memory that complete as late as the rules allow, when
//! their thread waits for them, so that a missing wait shows.

use super::operand::LANES;

/// A copy that is not done yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    pub lane: u8,
    /// Bytes to be written; those beyond `from_bytes` become zero.
    pub bytes: u8,
    /// Bytes to be read.
    pub from_bytes: u8,
    pub from: *const u8,
    pub to: *mut u8,
    /// The access word of the destination, and the instruction that issued it, for the checks.
    pub declared: u32,
    pub site: u32,
}

/// Which copies of a lane are to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// All, committed or not.
    All,
    /// Those of committed groups but the latest so many.
    AllButGroups(u32),
}

/// The copies of a warp.
#[derive(Debug, Default)]
pub(crate) struct AsyncCopies {
    /// Each with its lane's group, as the number of commits before.
    pending: Vec<(u32, AsyncCopy)>,
    /// Groups that each lane has committed.
    committed: [u32; LANES],
}

impl AsyncCopies {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pending.clear();
        self.committed = [0; LANES];
    }

    /// Whether there is none that is not done.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Adds a copy to its lane's open group.
    pub fn issue(&mut self, copy: AsyncCopy) {
        self.pending
            .push((self.committed[usize::from(copy.lane)], copy));
    }

    /// Closes the open group of a lane.
    pub fn commit(&mut self, lane: usize) {
        self.committed[lane] += 1;
    }

    /// Takes out the copies of the lanes of `mask` that are to be completed, in the order of their issue.
    pub fn take(&mut self, mask: u32, which: Completed) -> Vec<AsyncCopy> {
        let committed = self.committed;
        let mut taken = Vec::new();
        self.pending.retain(|&(group, copy)| {
            let lane = usize::from(copy.lane);
            let done = mask >> lane & 1 != 0
                && match which {
                    Completed::All => true,
                    Completed::AllButGroups(keep) => group < committed[lane].saturating_sub(keep),
                };
            if done {
                taken.push(copy);
            }
            !done
        });
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(lane: u8) -> AsyncCopy {
        AsyncCopy {
            lane,
            bytes: 4,
            from_bytes: 4,
            from: std::ptr::null(),
            to: std::ptr::null_mut(),
            declared: 0,
            site: 0,
        }
    }

    #[test]
    fn groups_complete_in_order_and_lane_by_lane() {
        let mut copies = AsyncCopies::default();
        for _ in 0..3 {
            copies.issue(copy(0));
            copies.issue(copy(5));
            copies.commit(0);
        }
        // Lane 5 has committed nothing; of lane 0's three groups the latest stays.
        assert_eq!(copies.take(u32::MAX, Completed::AllButGroups(1)).len(), 2);
        assert_eq!(copies.take(1 << 5, Completed::AllButGroups(0)).len(), 0);
        assert_eq!(copies.take(1, Completed::AllButGroups(0)).len(), 1);
        assert_eq!(copies.take(1 << 5, Completed::All).len(), 3);
        assert!(copies.is_empty());
    }
}
