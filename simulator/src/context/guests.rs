//! Work in a context that no stream of its has: nodes of graphs that were launched in streams of other contexts. The end of a context waits
//! for what runs, and lets nothing begin.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::sync::lock;

/// The guests of one context.
#[derive(Default)]
pub(super) struct Guests {
    state: Mutex<State>,
    left: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    /// The context is ending.
    is_closed: bool,
}

/// A piece of work that runs as long as this lives.
pub(super) struct Guest<'a>(&'a Guests);

/// Nothing begins as long as this lives.
pub(super) struct Closed<'a>(&'a Guests);

impl Guests {
    /// Begins a piece of work, if the context is the one that it is for and is not ending.
    pub(super) fn enter(&self, is_the_context: impl FnOnce() -> bool) -> Option<Guest<'_>> {
        let mut state = lock(&self.state);
        let may_begin = !state.is_closed && is_the_context();
        may_begin.then(|| {
            state.running += 1;
            Guest(self)
        })
    }

    /// Lets nothing begin, and waits for what runs.
    pub(super) fn close(&self) -> Closed<'_> {
        let mut state = lock(&self.state);
        state.is_closed = true;
        while state.running > 0 {
            let woken = self.left.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        Closed(self)
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).running -= 1;
        self.0.left.notify_all();
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_closed = false;
    }
}
