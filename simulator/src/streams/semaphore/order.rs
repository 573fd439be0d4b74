//! What signals and waits say about the order of work.

use std::sync::Mutex;

use crate::check::stream_order::Clock;
use crate::sync::lock;
use crate::work::CompletionPoint;

/// What the signals come after that have been issued. A wait comes after all of them: which one it is for, and what other processes do
/// between them, is not known.
static SIGNALLED: Mutex<Clock> = Mutex::new(Clock::new());

/// A signal has been issued, which comes before this point or with it.
pub(crate) fn note_signal(point: &CompletionPoint) {
    point.enter(&mut lock(&SIGNALLED));
}

/// What a wait comes after that is issued now.
pub(crate) fn signalled() -> Clock {
    lock(&SIGNALLED).clone()
}
