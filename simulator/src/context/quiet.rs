//! Moments at which nothing runs on any device.
//!
//! Work counts while it is executed. Who needs quiet lets no new work begin and waits for what runs. What runs may itself wait for work
//! that has not begun: then the door is opened again for a while, as often as it takes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::sync::lock;

/// How long no new work begins.
const CLOSED: Duration = Duration::from_millis(20);
/// How long it may begin again.
const OPEN: Duration = Duration::from_millis(20);

/// Somebody waits for quiet, or has it.
const IS_CLOSED: usize = 1;
/// One piece of work that runs.
const ONE: usize = 2;

/// How many pieces of work run, in the upper bits, and [`IS_CLOSED`]: all that work reads and writes while nobody wants quiet. Whoever finds it
/// closed goes by `CHANGED`: it is waited for under `CHANGES`, with a look at this word first, and told of under `CHANGES` after a change of it.
static DOOR: AtomicUsize = AtomicUsize::new(0);
static CHANGES: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();
/// Held by who wants quiet.
static TURN: Mutex<()> = Mutex::new(());

/// A piece of work that runs as long as this lives.
pub(super) struct Running(());

/// Begins a piece of work, after a moment of quiet if there is one.
pub(super) fn begin_work() -> Running {
    let enter = |door: usize| (door & IS_CLOSED == 0).then_some(door + ONE);
    // Acquires what was done in the last moment of quiet, and releases nothing: the work has not begun.
    while DOOR
        .try_update(Ordering::Acquire, Ordering::Relaxed, enter)
        .is_err()
    {
        wait_until_open();
    }
    Running(())
}

#[cold]
fn wait_until_open() {
    let mut changes = lock(&CHANGES);
    while DOOR.load(Ordering::Relaxed) & IS_CLOSED != 0 {
        changes = CHANGED
            .wait(changes)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

/// Wakes all that wait for a change of the door, which was made before.
#[cold]
fn tell_of_change() {
    // Whoever has looked at the door before the change waits already when this has the lock.
    let _changes = lock(&CHANGES);
    CHANGED.notify_all();
}

/// How many pieces of work run, all effects of those that have ended being seen.
fn running() -> usize {
    DOOR.load(Ordering::Acquire) / ONE
}

impl Drop for Running {
    fn drop(&mut self) {
        let before = DOOR.fetch_sub(ONE, Ordering::Release);
        if before == ONE | IS_CLOSED {
            tell_of_change();
        }
    }
}

/// Opens the door, whatever happens before it is dropped.
struct Closed;

impl Drop for Closed {
    fn drop(&mut self) {
        DOOR.fetch_and(!IS_CLOSED, Ordering::Release);
        tell_of_change();
    }
}

/// Waits until nothing runs on any device, and executes `action` before anything does again.
pub(crate) fn while_quiet(action: &mut dyn FnMut()) {
    let _turn = lock(&TURN);
    loop {
        DOOR.fetch_or(IS_CLOSED, Ordering::Relaxed);
        let closed = Closed;
        let end = Instant::now() + CLOSED;
        let mut changes = lock(&CHANGES);
        while running() > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (changes, _) = CHANGED
                .wait_timeout(changes, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(changes);
        // Nothing has begun since the door was closed.
        if running() == 0 {
            return action();
        }
        drop(closed);
        std::thread::sleep(OPEN);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;

    use super::*;

    /// Several want quiet, and each has it alone; work neither runs meanwhile nor begins.
    #[test]
    fn nothing_runs_while_it_is_quiet() {
        let rounds = warpsmith_testkit::cases(30);
        let (inside, quiet, stop) = (
            AtomicUsize::new(0),
            AtomicUsize::new(0),
            AtomicBool::new(false),
        );
        let work = || {
            while !stop.load(Ordering::Relaxed) {
                let running = begin_work();
                inside.fetch_add(1, Ordering::Relaxed);
                std::thread::yield_now();
                inside.fetch_sub(1, Ordering::Relaxed);
                drop(running);
            }
        };
        let want_quiet = || {
            let mut seen = 0;
            for _ in 0..rounds {
                while_quiet(&mut || {
                    seen += quiet.fetch_add(1, Ordering::Relaxed);
                    for _ in 0..20 {
                        seen += inside.load(Ordering::Relaxed);
                        std::thread::yield_now();
                    }
                    quiet.fetch_sub(1, Ordering::Relaxed);
                });
            }
            seen
        };
        let seen: usize = std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(work);
            }
            let wanting = [(); 2].map(|()| scope.spawn(want_quiet));
            let seen = wanting.map(|thread| thread.join().unwrap());
            stop.store(true, Ordering::Relaxed);
            seen.iter().sum()
        });
        assert_eq!(seen, 0);
    }

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
        while_quiet(&mut || ended = first.is_finished() || running() == 0);
        assert!(ended);
        first.join().unwrap();
        second.join().unwrap();
    }
}
