//! Moments at which nothing runs on any device.
//!
//! Work counts while it is executed. Who needs quiet lets no new work begin and waits for what runs. What runs may itself wait for work
//! that has not begun: then the door is opened again for a while, as often as it takes.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::sync::lock;

/// How long no new work begins.
const CLOSED: Duration = Duration::from_millis(20);
/// How long it may begin again.
const OPEN: Duration = Duration::from_millis(20);

#[derive(Default)]
struct Door {
    /// How many pieces of work run.
    running: usize,
    /// Somebody waits for quiet, or has it.
    is_closed: bool,
}

static DOOR: Mutex<Door> = Mutex::new(Door {
    running: 0,
    is_closed: false,
});
static CHANGED: Condvar = Condvar::new();
/// Held by who wants quiet.
static TURN: Mutex<()> = Mutex::new(());

/// A piece of work that runs as long as this lives.
pub(super) struct Running(());

/// Begins a piece of work, after a moment of quiet if there is one.
pub(super) fn begin_work() -> Running {
    let mut door = lock(&DOOR);
    while door.is_closed {
        door = CHANGED.wait(door).unwrap_or_else(PoisonError::into_inner);
    }
    door.running += 1;
    Running(())
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut door = lock(&DOOR);
        door.running -= 1;
        if door.is_closed {
            CHANGED.notify_all();
        }
    }
}

/// Opens the door, whatever happens before it is dropped.
struct Closed;

impl Drop for Closed {
    fn drop(&mut self) {
        lock(&DOOR).is_closed = false;
        CHANGED.notify_all();
    }
}

/// Waits until nothing runs on any device, and executes `action` before anything does again.
pub(crate) fn while_quiet(action: &mut dyn FnMut()) {
    let _turn = lock(&TURN);
    loop {
        let mut door = lock(&DOOR);
        door.is_closed = true;
        let closed = Closed;
        let end = Instant::now() + CLOSED;
        while door.running > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (door, _) = CHANGED
                .wait_timeout(door, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let is_quiet = door.running == 0;
        drop(door);
        if is_quiet {
            return action();
        }
        drop(closed);
        std::thread::sleep(OPEN);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Work of other tests of this process runs meanwhile, too.
    #[test]
    fn work_that_waits_for_other_work_ends_before_it_is_quiet() {
        let (send, receive) = mpsc::channel();
        let (begun, has_begun) = mpsc::channel();
        let first = std::thread::spawn(move || {
            let _running = begin_work();
            begun.send(()).unwrap();
            // What the second piece sends.
            receive.recv().unwrap();
        });
        has_begun.recv().unwrap();
        let second = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            let _running = begin_work();
            send.send(()).unwrap();
        });
        let mut ended = false;
        while_quiet(&mut || ended = first.is_finished() || lock(&DOOR).running == 0);
        assert!(ended);
        first.join().unwrap();
        second.join().unwrap();
    }
}
