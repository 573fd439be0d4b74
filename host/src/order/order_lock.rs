//! The lock under which the order of a use is worked out *and* the work enqueued, whenever more than one stream is involved.

use std::sync::{Mutex, MutexGuard};

use crate::sync::lock;

/// One for each device that is open.
#[derive(Default)]
pub(crate) struct OrderLock {
    mutex: Mutex<()>,
}

/// Proof that the order lock is held: what has to be one step with the enqueueing asks for it.
pub(crate) struct OrderGuard<'a> {
    _held: MutexGuard<'a, ()>,
}

impl OrderLock {
    pub(crate) fn lock(&self) -> OrderGuard<'_> {
        OrderGuard {
            _held: lock(&self.mutex),
        }
    }
}
