//! Threads of the driver that run a callback of this crate. They may not call the driver: it answers `CUDA_ERROR_NOT_PERMITTED` or
//! deadlocks. Destructors ask here before they call it, and all other calls of this crate that begin by making the context current.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Code, Error, Result};

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside of a callback, where the driver must not be called.
#[inline]
pub(crate) fn is_running() -> bool {
    RUNNING.get()
}

/// # Errors
///
/// This thread is inside of a callback.
#[inline]
pub(crate) fn refuse_inside() -> Result<()> {
    match is_running() {
        true => Err(called_inside("a call of warpsmith-host")),
        false => Ok(()),
    }
}

/// The error of a call inside of a callback.
#[cold]
pub(crate) fn called_inside(call: &'static str) -> Error {
    Error::misuse(
        call,
        Code::NOT_PERMITTED,
        "a function that a stream or a graph calls on the host made this call, and such a function must not call the driver",
        "have it send a message, and make the call on the thread that receives it; what it owns may be dropped in it",
    )
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

/// Drops what a panic has thrown, where none may leave.
pub(crate) fn drop_payload(payload: Box<dyn Any + Send>) {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    // Its destructor has panicked, too. What that threw is lost, which is better than no end.
    dropped.unwrap_or_else(std::mem::forget);
}
