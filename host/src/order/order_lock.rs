//! The lock under which the order of a use is worked out *and* the work enqueued, whenever more than one stream is involved.
//!
//! Each device has one of its own, until its memory or its events are used on another device: from then on it shares one lock with all
//! devices of which that holds. So whoever holds the lock of a device may look at every stream that has used the device's memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use smallvec::SmallVec;

use crate::sync::lock;

/// The lock of the devices that share one. It is taken before any device's own.
static SHARED: Mutex<()> = Mutex::new(());

/// One for each device that is open.
#[derive(Default)]
pub(crate) struct OrderLock {
    own: Mutex<()>,
    /// The device shares its lock. This is set under both locks, and stays.
    is_shared: AtomicBool,
}

/// Proof that the order lock is held: what has to be one step with the enqueueing asks for it.
pub(crate) struct OrderGuard<'a> {
    _held: SmallVec<[MutexGuard<'a, ()>; 1]>,
}

impl OrderLock {
    /// Takes the lock.
    pub(crate) fn lock(&self) -> OrderGuard<'_> {
        OrderLock::lock_all([self])
    }

    /// Takes the locks of several devices, which all threads give in the same order.
    pub(crate) fn lock_all<'a>(
        locks: impl IntoIterator<Item = &'a OrderLock> + Clone,
    ) -> OrderGuard<'a> {
        let is_shared = |order: &OrderLock| order.is_shared.load(Ordering::Acquire);
        let own = |order: &'a OrderLock| lock(&order.own);
        loop {
            let all = || locks.clone().into_iter();
            let mut held = SmallVec::new();
            if all().any(is_shared) {
                held.push(lock(&SHARED));
                // No device begins to share its lock as long as that one is held.
                held.extend(all().filter(|order| !is_shared(order)).map(own));
                return OrderGuard { _held: held };
            }
            held.extend(all().map(own));
            if !all().any(is_shared) {
                return OrderGuard { _held: held };
            }
            // One began to share its lock before it was taken.
        }
    }

    /// Shares one lock with the other devices that do, from here on. The caller holds no order lock.
    pub(crate) fn share(&self) {
        if self.is_shared.load(Ordering::Acquire) {
            return;
        }
        let _shared = lock(&SHARED);
        // Whoever holds it does not wait for the shared one.
        let _own = lock(&self.own);
        self.is_shared.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// Locks that are shared while others hold them: nobody is ever beside somebody else in one of them.
    #[test]
    fn who_has_one_lock_is_alone_in_it() {
        for _ in 0..warpsmith_testkit::cases(50) {
            let locks: Arc<[OrderLock; 3]> = Arc::default();
            let inside: Arc<[AtomicU32; 3]> = Arc::default();
            let threads = (0..6_usize).map(|thread| {
                let (locks, inside) = (locks.clone(), inside.clone());
                std::thread::spawn(move || {
                    for round in 0..40 {
                        let first = (thread + round) % 3;
                        let last = match round % 4 {
                            0 => 2,
                            _ => first,
                        };
                        let held = OrderLock::lock_all(&locks[first..=last]);
                        for inside in &inside[first..=last] {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        }
                        for inside in &inside[first..=last] {
                            inside.fetch_sub(1, Ordering::SeqCst);
                        }
                        drop(held);
                        if thread == 0 && round == 20 {
                            locks[0].share();
                            locks[2].share();
                        }
                    }
                })
            });
            let threads: Vec<_> = threads.collect();
            for thread in threads {
                thread.join().expect("nobody is beside another");
            }
        }
    }

    #[test]
    fn what_is_shared_is_one_lock() {
        let [one, other, own] = [(); 3].map(|()| OrderLock::default());
        one.share();
        other.share();
        // Twice is the same as once.
        one.share();
        let held = one.lock();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| drop(other.lock()));
            // Has nothing to do with the two.
            scope.spawn(|| drop(own.lock())).join().expect("no panic");
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!waits.is_finished());
            drop(held);
            waits.join().expect("no panic");
        });
    }
}
