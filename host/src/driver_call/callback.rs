//! Threads of the driver that run a callback of this crate. They may not call the driver: it answers `CUDA_ERROR_NOT_PERMITTED` or
//! deadlocks. Destructors ask here before they call it.

use std::cell::Cell;

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside of a callback, where the driver must not be called.
#[inline]
pub(crate) fn is_running() -> bool {
    RUNNING.get()
}

/// Marks the current thread as inside of a callback until it is dropped.
pub(crate) struct Running {
    outer: bool,
}

impl Running {
    pub(crate) fn enter() -> Running {
        Running {
            outer: RUNNING.replace(true),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.outer);
    }
}

/// Runs `teardown` here, or on a thread of its own where this one may not call the driver.
pub(crate) fn run_where_the_driver_may_be_called(teardown: impl FnOnce() + Send + 'static) {
    if is_running() {
        std::thread::spawn(teardown);
    } else {
        teardown();
    }
}
