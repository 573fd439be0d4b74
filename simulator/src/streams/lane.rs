//! A lane: work in order, on a thread of its own that comes when there is work and goes after a while without. Nothing here knows of
//! contexts or streams; order between lanes is made by [`Mark`]s that an item waits for.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::state::lock;

/// How long an idle thread stays.
const LINGER: Duration = Duration::from_millis(500);

type Work = Box<dyn FnOnce() + Send>;

pub(crate) struct Lane {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pending: VecDeque<(Vec<Mark>, Work)>,
    /// Items ever issued.
    issued: u64,
    /// Items completed; they complete in order.
    done: u64,
    /// An item is being executed, by the lane's thread or by a caller.
    busy: bool,
    /// The lane's thread lives.
    worker: bool,
}

/// A point in a lane: everything issued to it up to then.
#[derive(Clone)]
pub(crate) struct Mark {
    lane: Arc<Lane>,
    ticket: u64,
}

impl Mark {
    /// A point of no lane, which is reached when somebody says so.
    pub(crate) fn promise() -> Self {
        let lane = Lane::new();
        lock(&lane.state).issued = 1;
        Self { lane, ticket: 1 }
    }

    /// Says that a promised point has been reached.
    pub(crate) fn fulfil(&self) {
        let mut state = lock(&self.lane.state);
        state.done = state.done.max(self.ticket);
        self.lane.changed.notify_all();
    }

    pub(crate) fn done(&self) -> bool {
        lock(&self.lane.state).done >= self.ticket
    }

    pub(crate) fn wait(&self) {
        let mut state = lock(&self.lane.state);
        while state.done < self.ticket {
            state = self.lane.wait(state);
        }
    }
}

impl Lane {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// The point after all that has been issued.
    pub(crate) fn mark(self: &Arc<Self>) -> Mark {
        Mark {
            lane: Arc::clone(self),
            ticket: lock(&self.state).issued,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        state.done == state.issued
    }

    /// Appends work that starts after `after` as well.
    pub(crate) fn submit(self: &Arc<Self>, after: Vec<Mark>, work: Work) -> Mark {
        let mut state = lock(&self.state);
        state.pending.push_back((after, work));
        state.issued += 1;
        let ticket = state.issued;
        if state.worker {
            self.changed.notify_all();
        } else {
            state.worker = true;
            let lane = Arc::clone(self);
            std::thread::Builder::new()
                .name("warpsmith stream".to_owned())
                .spawn(move || lane.serve())
                .expect("the system refuses a thread for a stream");
        }
        Mark {
            lane: Arc::clone(self),
            ticket,
        }
    }

    /// Appends work and waits for it; on the calling thread where nothing is before it.
    pub(crate) fn run(self: &Arc<Self>, after: Vec<Mark>, work: Work) {
        // Before the lock: a mark may be one of this very lane.
        let ready = after.iter().all(Mark::done);
        let mut state = lock(&self.state);
        if state.busy || !state.pending.is_empty() || !ready {
            drop(state);
            self.submit(after, work).wait();
            return;
        }
        state.busy = true;
        state.issued += 1;
        drop(state);
        work();
        drop(self.complete());
    }

    fn complete(&self) -> MutexGuard<'_, State> {
        let mut state = lock(&self.state);
        state.busy = false;
        state.done += 1;
        self.changed.notify_all();
        state
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn serve(&self) {
        let mut state = lock(&self.state);
        loop {
            if state.busy {
                state = self.wait(state);
            } else if let Some((after, work)) = state.pending.pop_front() {
                state.busy = true;
                drop(state);
                after.iter().for_each(Mark::wait);
                work();
                state = self.complete();
            } else {
                let (woken, timeout) = self
                    .changed
                    .wait_timeout(state, LINGER)
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                state = woken;
                if timeout.timed_out() && state.pending.is_empty() && !state.busy {
                    state.worker = false;
                    return;
                }
            }
        }
    }
}
