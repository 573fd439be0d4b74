//! The queues of one context and the implicit order between them: the legacy default stream waits for all blocking streams and they for
//! it; a non-blocking stream takes no part in that (CUDA C++ Programming Guide, "Default Stream").

use std::sync::{Arc, Mutex};

use super::queue::{CompletionPoint, Room, Work, WorkQueue};
use crate::sync::lock;

/// How a queue takes part in the implicit order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueRole {
    /// The legacy default stream's queue.
    Legacy,
    /// Waits for the legacy queue, and the legacy queue for it.
    Blocking,
    /// Is ordered by explicit dependencies alone.
    NonBlocking,
}

/// The queues of one context that may have work.
#[derive(Default)]
pub(crate) struct QueueSet {
    members: Mutex<Members>,
    /// Held while work is submitted, so that all queues see one order of submissions.
    submitting: Mutex<()>,
}

#[derive(Default)]
struct Members {
    legacy: Option<Arc<WorkQueue>>,
    /// All but the legacy queue.
    others: Vec<(Arc<WorkQueue>, QueueRole)>,
}

impl Members {
    /// Takes the queues of destroyed streams out that have done their work: nobody else owns them.
    fn forget_idle(&mut self) {
        self.others
            .retain(|(queue, _)| Arc::strong_count(queue) > 1 || !queue.is_idle());
    }
}

impl QueueSet {
    /// A queue for a new stream; the legacy queue is the same each time.
    pub(crate) fn add(&self, role: QueueRole) -> Arc<WorkQueue> {
        let mut members = lock(&self.members);
        if role == QueueRole::Legacy {
            return Arc::clone(members.legacy.get_or_insert_with(WorkQueue::new));
        }
        members.forget_idle();
        let queue = WorkQueue::new();
        members.others.push((Arc::clone(&queue), role));
        queue
    }

    /// What the next item of a queue comes after by the implicit order. Also what is reached: which that is changes nothing about the order.
    fn predecessors(&self, role: QueueRole) -> Vec<CompletionPoint> {
        let members = lock(&self.members);
        let used = |queue: &Arc<WorkQueue>| {
            let end = queue.end();
            (end.item() > 0).then_some(end)
        };
        match role {
            QueueRole::Legacy => members
                .others
                .iter()
                .filter(|(_, role)| *role == QueueRole::Blocking)
                .filter_map(|(queue, _)| used(queue))
                .collect(),
            QueueRole::Blocking => members.legacy.iter().filter_map(used).collect(),
            QueueRole::NonBlocking => Vec::new(),
        }
    }

    /// Submits work in the implicit order, after the points of `after` as well.
    pub(crate) fn submit(
        &self,
        queue: &Arc<WorkQueue>,
        role: QueueRole,
        _room: Room,
        mut after: Vec<CompletionPoint>,
        work: Work,
    ) -> CompletionPoint {
        let _submitting = lock(&self.submitting);
        after.extend(self.predecessors(role));
        queue.submit(after, work)
    }

    /// Executes work in the implicit order and waits for it.
    pub(crate) fn run(&self, queue: &Arc<WorkQueue>, role: QueueRole, work: Work) {
        let submitting = lock(&self.submitting);
        let after = self.predecessors(role);
        // Not held while the work runs: the work may take long, and other streams go on.
        drop(submitting);
        queue.run(after, work);
    }

    /// The points after everything submitted to a queue so far; for the legacy queue that includes all blocking queues.
    pub(crate) fn ends(&self, queue: &Arc<WorkQueue>, role: QueueRole) -> Vec<CompletionPoint> {
        let _submitting = lock(&self.submitting);
        let mut ends = self.predecessors(role);
        ends.push(queue.end());
        ends
    }

    fn all(&self) -> Vec<Arc<WorkQueue>> {
        let members = lock(&self.members);
        let others = members.others.iter().map(|(queue, _)| queue);
        others.chain(&members.legacy).cloned().collect()
    }

    /// The points after everything submitted to any queue so far.
    pub(crate) fn all_ends(&self) -> Vec<CompletionPoint> {
        let _submitting = lock(&self.submitting);
        self.all().iter().map(WorkQueue::end).collect()
    }

    /// What the queues are called that have work left.
    pub(crate) fn unfinished(&self) -> Vec<Arc<str>> {
        let all = self.all();
        let unfinished = all.iter().filter(|queue| !queue.end().is_reached());
        unfinished.map(|queue| queue.label()).collect()
    }

    /// Lets what is submitted to any queue from here on wait for a point.
    pub(crate) fn hold_back(&self, point: &CompletionPoint) {
        // Streams that are made later wait for this one.
        self.add(QueueRole::Legacy);
        let _submitting = lock(&self.submitting);
        for queue in self.all() {
            // Beyond the room for items: one for each such point.
            queue.submit(vec![point.clone()], Box::new(|| ()));
        }
    }

    /// Waits for all work of all queues.
    pub(crate) fn wait_all(&self) {
        self.all().iter().for_each(|queue| queue.end().wait());
        lock(&self.members).forget_idle();
    }

    /// Forgets all queues; work that they still have goes on without an order between them.
    pub(crate) fn clear(&self) {
        *lock(&self.members) = Members::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether an item submitted to `second` waits for one that `first` cannot finish yet.
    fn waits(first: QueueRole, second: QueueRole) -> bool {
        let set = QueueSet::default();
        let (earlier, later) = (set.add(first), set.add(second));
        let gate = CompletionPoint::pending();
        let room = earlier.room();
        set.submit(&earlier, first, room, vec![gate.clone()], Box::new(|| ()));
        let reached = |points: Vec<CompletionPoint>| points.iter().all(CompletionPoint::is_reached);
        let waits = !reached(set.predecessors(second));
        let end = set.submit(&later, second, later.room(), Vec::new(), Box::new(|| ()));
        gate.complete();
        end.wait();
        set.wait_all();
        waits
    }

    #[test]
    fn legacy_and_blocking_queues_wait_for_each_other() {
        use QueueRole::{Blocking, Legacy, NonBlocking};
        assert!(waits(Legacy, Blocking));
        assert!(waits(Blocking, Legacy));
        for (first, second) in [
            (Legacy, NonBlocking),
            (NonBlocking, Legacy),
            (Blocking, Blocking),
            (Blocking, NonBlocking),
            (NonBlocking, Blocking),
            (NonBlocking, NonBlocking),
        ] {
            assert!(!waits(first, second), "{first:?} before {second:?}");
        }
    }

    #[test]
    fn there_is_one_legacy_queue() {
        let set = QueueSet::default();
        assert!(Arc::ptr_eq(
            &set.add(QueueRole::Legacy),
            &set.add(QueueRole::Legacy)
        ));
        assert!(!Arc::ptr_eq(
            &set.add(QueueRole::Blocking),
            &set.add(QueueRole::Blocking)
        ));
    }
}
