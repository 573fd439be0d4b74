//! What a point in a queue is known to come after: for each queue the last of its items, through any number of queues between.
//!
//! It is what was submitted that counts, not what has run. So the answer does not depend on the progress of the work.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// The last item of each queue that comes before a point. `Q` is the type of queues, of which only the identity counts.
pub(super) struct Before<Q> {
    /// By the queue's address, which stays its own as long as it is noted here.
    items: BTreeMap<usize, (Weak<Q>, u64)>,
}

impl<Q> Default for Before<Q> {
    fn default() -> Self {
        Self {
            items: BTreeMap::new(),
        }
    }
}

impl<Q> Clone for Before<Q> {
    fn clone(&self) -> Self {
        Self {
            items: self.items.clone(),
        }
    }
}

impl<Q> Before<Q> {
    /// Whether the item of this number, and so all before it in its queue, comes before.
    pub(super) fn holds(&self, queue: &Arc<Q>, item: u64) -> bool {
        let key = Arc::as_ptr(queue) as usize;
        self.items
            .get(&key)
            .is_some_and(|&(_, known)| known >= item)
    }

    /// Adds an item, and what comes before it.
    pub(super) fn add(&mut self, queue: &Arc<Q>, item: u64, its_own: &Before<Q>) {
        // Nobody asks about queues that are gone.
        self.items.retain(|_, (queue, _)| queue.strong_count() > 0);
        self.note(Arc::as_ptr(queue) as usize, &Arc::downgrade(queue), item);
        for (&key, (queue, item)) in &its_own.items {
            self.note(key, queue, *item);
        }
    }

    fn note(&mut self, key: usize, queue: &Weak<Q>, item: u64) {
        let (_, known) = self
            .items
            .entry(key)
            .or_insert_with(|| (queue.clone(), item));
        *known = (*known).max(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_is_handed_on() {
        let [first, second, third] = [(); 3].map(|()| Arc::new(()));
        let nothing = Before::default();
        let mut of_second = Before::default();
        of_second.add(&first, 3, &nothing);
        let mut of_third = Before::default();
        of_third.add(&second, 1, &of_second);
        assert!(of_third.holds(&first, 3) && of_third.holds(&first, 2));
        assert!(!of_third.holds(&first, 4) && !of_third.holds(&third, 1));
        // An older point takes nothing back.
        of_third.add(&first, 1, &nothing);
        assert!(of_third.holds(&first, 3));
    }

    #[test]
    fn queues_that_are_gone_are_forgotten() {
        let (gone, alive) = (Arc::new(()), Arc::new(()));
        let mut before = Before::default();
        before.add(&gone, 1, &Before::default());
        drop(gone);
        before.add(&alive, 1, &Before::default());
        assert_eq!(before.items.len(), 1);
    }
}
