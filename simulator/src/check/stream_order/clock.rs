//! What a point in a line of work is known to come after: for each line the last of its items, through any number of lines between.
//!
//! It is what was submitted that counts, not what has run. So the answer does not depend on the progress of the work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// A line of work: items in order, numbered from 1. Its identity alone counts.
#[derive(Debug)]
pub struct Line {
    number: u64,
}

impl Line {
    /// Another line than all others.
    pub fn new() -> Arc<Line> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Line { number })
    }
}

/// The last item of each line that comes before a point.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// By the line's number.
    items: BTreeMap<u64, (Weak<Line>, u64)>,
}

impl Clock {
    /// That of a point before which nothing comes.
    pub const fn new() -> Clock {
        Clock {
            items: BTreeMap::new(),
        }
    }

    /// Whether the item of this number, and so all before it in its line, comes before.
    pub fn holds(&self, line: &Line, item: u64) -> bool {
        let known = self.items.get(&line.number);
        known.is_some_and(|&(_, known)| known >= item)
    }

    /// Adds an item, and what comes before it.
    pub fn add(&mut self, line: &Arc<Line>, item: u64, its_own: &Clock) {
        self.note(line, item);
        self.join(its_own);
    }

    /// Adds an item alone.
    pub fn note(&mut self, line: &Arc<Line>, item: u64) {
        if item > 0 {
            self.note_weak(line.number, &Arc::downgrade(line), item);
        }
    }

    /// Adds all that another point comes after.
    pub fn join(&mut self, other: &Clock) {
        // Nobody asks about lines that are gone.
        self.items.retain(|_, (line, _)| line.strong_count() > 0);
        for (&number, (line, item)) in &other.items {
            if line.strong_count() > 0 {
                self.note_weak(number, line, *item);
            }
        }
    }

    fn note_weak(&mut self, number: u64, line: &Weak<Line>, item: u64) {
        let (_, known) = (self.items.entry(number)).or_insert_with(|| (line.clone(), item));
        *known = (*known).max(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_is_handed_on() {
        let [first, second, third] = [(); 3].map(|()| Line::new());
        let nothing = Clock::default();
        let mut of_second = Clock::default();
        of_second.add(&first, 3, &nothing);
        let mut of_third = Clock::default();
        of_third.add(&second, 1, &of_second);
        assert!(of_third.holds(&first, 3) && of_third.holds(&first, 2));
        assert!(!of_third.holds(&first, 4) && !of_third.holds(&third, 1));
        // An older point takes nothing back.
        of_third.add(&first, 1, &nothing);
        assert!(of_third.holds(&first, 3));
    }

    #[test]
    fn queues_that_are_gone_are_forgotten() {
        let (gone, alive) = (Line::new(), Line::new());
        let mut before = Clock::default();
        before.add(&gone, 1, &Clock::default());
        drop(gone);
        before.add(&alive, 1, &Clock::default());
        assert_eq!(before.items.len(), 1);
    }
}
