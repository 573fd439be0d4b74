//! Streams: ordered work on threads of its own.

use std::cell::Cell;

thread_local! {
    static PER_THREAD: Cell<u32> = const { Cell::new(0) };
}

/// While one lives, the null stream means the calling thread's own default stream.
pub(crate) struct PerThreadDefault(());

impl PerThreadDefault {
    pub(crate) fn enter() -> Self {
        PER_THREAD.set(PER_THREAD.get() + 1);
        Self(())
    }
}

impl Drop for PerThreadDefault {
    fn drop(&mut self) {
        PER_THREAD.set(PER_THREAD.get() - 1);
    }
}
