//! Asynchronous operations that their issuer waits for by groups (`cp.async`, bulk copies, `wgmma`). They complete as late as the
//! rules allow, when their issuer waits for them, so that a missing wait shows.

use super::operand::LANES;

/// Which operations of a lane are to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// All, committed or not.
    All,
    /// Those of committed groups but the latest so many.
    AllButGroups(u32),
}

/// An operation that is not done.
#[derive(Clone, Copy, Debug)]
struct Pending<T> {
    /// Who issued it.
    lane: u8,
    /// Its group, as the number of the lane's commits before.
    group: u32,
    operation: T,
}

/// The operations of a warp's lanes that are not done. What a warp issues as a whole is its lane 0's.
#[derive(Debug)]
pub(crate) struct GroupQueue<T> {
    pending: Vec<Pending<T>>,
    /// Groups that each lane has committed.
    committed: [u32; LANES],
    /// Whether anything was issued or committed since all was forgotten: most kernels never do, and a warp starts often.
    is_used: bool,
}

impl<T> Default for GroupQueue<T> {
    fn default() -> Self {
        GroupQueue {
            pending: Vec::new(),
            committed: [0; LANES],
            is_used: false,
        }
    }
}

impl<T> GroupQueue<T> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        if self.is_used {
            self.pending.clear();
            self.committed = [0; LANES];
            self.is_used = false;
        }
    }

    /// Whether there is none that is not done.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// How many are not done.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// The latest operation of the lanes of `mask` that is to be completed.
    pub fn last_due(&self, mask: u32, which: Completed) -> Option<&T> {
        let due = |pending: &&Pending<T>| Self::is_due(&self.committed, pending, mask, which);
        self.pending
            .iter()
            .rfind(due)
            .map(|pending| &pending.operation)
    }

    /// Adds an operation to its lane's open group.
    pub fn issue(&mut self, lane: usize, operation: T) {
        self.is_used = true;
        self.pending.push(Pending {
            lane: lane as u8,
            group: self.committed[lane],
            operation,
        });
    }

    /// Closes the open group of a lane.
    pub fn commit(&mut self, lane: usize) {
        self.is_used = true;
        self.committed[lane] += 1;
    }

    /// Whether an operation of a lane of `mask` is to be completed.
    fn is_due(committed: &[u32; LANES], pending: &Pending<T>, mask: u32, which: Completed) -> bool {
        let lane = usize::from(pending.lane);
        mask >> lane & 1 != 0
            && match which {
                Completed::All => true,
                Completed::AllButGroups(keep) => {
                    pending.group < committed[lane].saturating_sub(keep)
                }
            }
    }

    /// Takes out the operations of the lanes of `mask` that are to be completed, each with its lane, in the order of their issue.
    pub fn take(&mut self, mask: u32, which: Completed) -> Vec<(usize, T)> {
        let committed = self.committed;
        self.pending
            .extract_if(.., |pending| Self::is_due(&committed, pending, mask, which))
            .map(|pending| (usize::from(pending.lane), pending.operation))
            .collect()
    }

    /// The operations of the lanes of `mask` that are to be completed, each with its lane, in the order of their issue. They stay.
    pub fn due(&mut self, mask: u32, which: Completed) -> impl Iterator<Item = (usize, &mut T)> {
        let committed = self.committed;
        self.pending
            .iter_mut()
            .filter(move |pending| Self::is_due(&committed, pending, mask, which))
            .map(|pending| (usize::from(pending.lane), &mut pending.operation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_complete_in_order_and_lane_by_lane() {
        let mut queue = GroupQueue::default();
        for group in 0..3 {
            queue.issue(0, ('a', group));
            queue.issue(5, ('b', group));
            queue.commit(0);
        }
        // Lane 5 has committed nothing; of lane 0's three groups the latest stays.
        let last = queue.last_due(u32::MAX, Completed::AllButGroups(1));
        assert_eq!((last, queue.len()), (Some(&('a', 1)), 6));
        let due: Vec<_> = queue.due(u32::MAX, Completed::AllButGroups(1)).collect();
        assert_eq!(due, [(0, &mut ('a', 0)), (0, &mut ('a', 1))]);
        let taken = queue.take(u32::MAX, Completed::AllButGroups(1));
        assert_eq!(taken, [(0, ('a', 0)), (0, ('a', 1))]);
        assert_eq!(queue.last_due(1 << 5, Completed::AllButGroups(0)), None);
        assert_eq!(queue.take(1 << 5, Completed::AllButGroups(0)), []);
        assert_eq!(queue.take(1, Completed::AllButGroups(0)), [(0, ('a', 2))]);
        assert_eq!(queue.take(1 << 5, Completed::All).len(), 3);
        assert!(queue.is_empty());
    }

    #[test]
    fn after_all_is_forgotten_groups_are_counted_anew() {
        let mut queue = GroupQueue::default();
        queue.commit(3);
        queue.clear();
        queue.issue(3, 'a');
        assert_eq!(queue.last_due(1 << 3, Completed::AllButGroups(0)), None);
        queue.clear();
        assert!(queue.is_empty());
    }
}
