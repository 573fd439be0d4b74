//! A count of the host's open accesses, which keeps work on the device out.

use std::sync::atomic::{AtomicU32, Ordering};

/// It is changed under the order lock or by guards that end; guards that are forgotten stay counted.
#[derive(Default)]
pub(crate) struct HostAccesses(AtomicU32);

impl HostAccesses {
    /// Counts an access that begins.
    pub(crate) fn open(&self) {
        self.change(|count| count + 1);
    }

    /// Counts an access that ends.
    pub(crate) fn close(&self) {
        self.change(|count| count - 1);
    }

    /// Whether one is open.
    pub(crate) fn are_open(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    /// A count that has reached its limit, by guards that were forgotten, stays there: the work is kept out for good.
    fn change(&self, change: impl Fn(u32) -> u32) {
        let changed = self
            .0
            .try_update(Ordering::AcqRel, Ordering::Acquire, |count| {
                (count != u32::MAX).then(|| change(count))
            });
        // `Err`: at the limit, nothing changed.
        let _ = changed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_forgotten_accesses_stay_open() {
        let accesses = HostAccesses::default();
        accesses.open();
        accesses.close();
        assert!(!accesses.are_open());
        let accesses = HostAccesses(AtomicU32::new(u32::MAX));
        accesses.open();
        accesses.close();
        assert!(accesses.are_open());
    }
}
