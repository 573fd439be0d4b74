//! Which of the grids that are ready a device executes: so many at a time, those of high priority first.
//!
//! A grid that has begun is not interrupted, whatever comes after it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::device;
use crate::sync::lock;

/// The grids of one device.
pub(super) struct ResidentGrids {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// How many are executed.
    resident: usize,
    /// Those that wait: a small number is a high priority, among equal ones the first comes first.
    waiting: BTreeSet<(i32, u64)>,
    tickets: u64,
}

/// While it lives, a grid is resident.
pub(super) struct Residency<'a>(&'a ResidentGrids);

impl Drop for Residency<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).resident -= 1;
        self.0.changed.notify_all();
    }
}

impl ResidentGrids {
    /// Those of a device that the process sees.
    pub(super) fn of_device(device: usize) -> &'static Self {
        static DEVICES: OnceLock<Vec<ResidentGrids>> = OnceLock::new();
        &DEVICES.get_or_init(|| (0..device::count()).map(|_| Self::new()).collect())[device]
    }

    fn new() -> Self {
        Self {
            state: Mutex::new(State {
                resident: 0,
                waiting: BTreeSet::new(),
                tickets: 0,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits until fewer than `most` grids are resident and none of higher priority waits; `None` where it is cancelled first.
    pub(super) fn enter(
        &self,
        priority: i32,
        most: usize,
        cancel: &AtomicBool,
    ) -> Option<Residency<'_>> {
        /// How often it is looked whether the wait is cancelled.
        const LOOK: Duration = Duration::from_millis(20);
        let mut state = lock(&self.state);
        let place = (priority, state.tickets);
        state.tickets += 1;
        state.waiting.insert(place);
        while state.resident >= most || state.waiting.first() != Some(&place) {
            if cancel.load(Ordering::Acquire) {
                state.waiting.remove(&place);
                self.changed.notify_all();
                return None;
            }
            let woken = self.changed.wait_timeout(state, LOOK);
            (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.remove(&place);
        state.resident += 1;
        // There may be room for the next one, too.
        self.changed.notify_all();
        Some(Residency(self))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn waiting(grids: &ResidentGrids) -> usize {
        lock(&grids.state).waiting.len()
    }

    /// Waits until so many grids wait.
    fn until_waiting(grids: &ResidentGrids, count: usize) {
        while waiting(grids) != count {
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_waits_comes_by_priority_and_then_in_order() {
        let grids = ResidentGrids::new();
        let go_on = AtomicBool::new(false);
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            let running = grids.enter(0, 1, &go_on);
            for (count, priority) in [0, -1, 0, -5, -1].into_iter().enumerate() {
                let (grids, go_on, send) = (&grids, &go_on, send.clone());
                scope.spawn(move || {
                    let _resident = grids.enter(priority, 1, go_on);
                    send.send((priority, count)).unwrap();
                });
                until_waiting(grids, count + 1);
            }
            drop(running);
        });
        let order: Vec<_> = receive.try_iter().collect();
        assert_eq!(order, [(-5, 3), (-1, 1), (-1, 4), (0, 0), (0, 2)]);
    }

    #[test]
    fn as_many_are_resident_as_there_is_room_for() {
        let grids = ResidentGrids::new();
        let cancel = AtomicBool::new(false);
        let resident = [(); 3].map(|()| grids.enter(0, 3, &cancel));
        assert!(resident.iter().all(Option::is_some));
        std::thread::scope(|scope| {
            let fourth = scope.spawn(|| grids.enter(-5, 3, &cancel).is_some());
            until_waiting(&grids, 1);
            cancel.store(true, Ordering::Release);
            assert!(!fourth.join().unwrap(), "it was cancelled");
        });
        assert_eq!(waiting(&grids), 0);
        drop(resident);
        assert!(grids.enter(0, 1, &AtomicBool::new(false)).is_some());
    }
}
