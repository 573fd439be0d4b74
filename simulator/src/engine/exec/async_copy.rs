//! Asynchronous operations of a warp that are not done: copies to shared memory that complete as late as the rules allow, when
//! their thread waits for them, so that a missing wait shows.

use super::guest;
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
}

impl AsyncCopy {
    /// Does it.
    fn complete(self) {
        let (bytes, from_bytes) = (usize::from(self.bytes), usize::from(self.from_bytes));
        // SAFETY: both ranges were resolved when the copy was issued. The source is global memory, which stays mapped while the
        // grid runs; the destination is the shared memory of the cluster, whose warps complete their copies before it ends.
        unsafe {
            guest::copy(self.from, self.to, from_bytes);
            guest::fill(self.to.add(from_bytes), 0, bytes - from_bytes);
        }
    }
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
        self.pending.push((self.committed[usize::from(copy.lane)], copy));
    }

    /// Closes the open group of a lane.
    pub fn commit(&mut self, lane: usize) {
        self.committed[lane] += 1;
    }

    /// Completes copies of the lanes of `mask`.
    pub fn complete(&mut self, mask: u32, which: Completed) {
        let committed = self.committed;
        self.pending.retain(|&(group, copy)| {
            let lane = usize::from(copy.lane);
            let done = mask >> lane & 1 != 0
                && match which {
                    Completed::All => true,
                    Completed::AllButGroups(keep) => group < committed[lane].saturating_sub(keep),
                };
            if done {
                copy.complete();
            }
            !done
        });
    }
}
