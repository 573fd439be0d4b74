//! A work queue: items in order, executed by a thread that is started when there is work and ends after a while without. Order between
//! queues is made by [`CompletionPoint`]s that an item waits for.
//!
//! A queue has room for [`ROOM`] items, as a driver's has for about a thousand: who submits asks for [`Room`] first, which waits.
//! What holds a queue up may wait for the very thread that waits for room: a host function for a message of that thread, a kernel for
//! a word of host memory, an item of another queue for one of this. So the wait is no condition: a queue that completes nothing for
//! [`STALLED`] has room for another [`ROOM`] items. Room is asked for with no lock held that an item, or another thread on the way to
//! let the queue go on, may need.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::host;
use crate::check::stream_order::{Clock, Line, Place};
use crate::sync::lock;

/// How long an idle thread stays.
const LINGER: Duration = Duration::from_millis(500);

/// How many items may wait in a queue before who submits more has to wait; fewer where Miri interprets the tests that fill one.
const ROOM: usize = if cfg!(miri) { 32 } else { 1024 };

/// After how long without a completed item a full queue takes more.
const STALLED: Duration = Duration::from_secs(1);

/// Says that there was room in a queue when it was asked for. Threads that ask at the same time may all be told so.
#[must_use]
pub(crate) struct Room(());

/// One item of work. A panic in it is caught: the item counts as completed.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// A queue whose items complete in the order in which they were submitted.
pub(crate) struct WorkQueue {
    /// What it is in the order of work.
    line: Arc<Line>,
    /// What reports call it.
    label: OnceLock<Arc<str>>,
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// Items that have not been started, each with the points that it waits for.
    pending: VecDeque<Item>,
    /// Items ever submitted.
    submitted: u64,
    /// Items completed; they complete in order.
    completed: u64,
    /// An item is being executed, by the queue's thread or by a caller of [`WorkQueue::run`].
    executing: bool,
    /// The queue's thread exists.
    has_thread: bool,
    /// Its stream is gone: the thread ends as soon as there is no work.
    is_retired: bool,
    /// How many items a stalled queue has taken beyond [`ROOM`]; 0 as soon as an item completes.
    extra_room: usize,
    /// What comes before the last item that was submitted, of other queues.
    before: Arc<Clock>,
    /// What the host knew when that was submitted.
    host: Arc<Clock>,
}

/// An item that has not been started.
struct Item {
    /// The points that it waits for.
    after: Vec<CompletionPoint>,
    work: Work,
    place: Place,
}

thread_local! {
    /// The place of the item that this thread executes.
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// The place of the work that this thread executes; `None` on a thread of the program's.
pub(crate) fn place() -> Option<Place> {
    PLACE.with_borrow(Option::clone)
}

/// Executes a part of the work at a place of its own.
pub(crate) fn at_place<R>(place: Option<Place>, work: impl FnOnce() -> R) -> R {
    /// Puts the place back that was there before.
    struct Leave(Option<Place>);
    impl Drop for Leave {
        fn drop(&mut self) {
            PLACE.set(self.0.take());
        }
    }
    let _leave = Leave(PLACE.replace(place));
    work()
}

impl QueueState {
    /// An item is appended that comes after these points as well.
    fn follow(&mut self, line: &Arc<Line>, after: &[CompletionPoint]) -> Place {
        let submission = host::submit();
        if !Arc::ptr_eq(&self.host, &submission.known) {
            Arc::make_mut(&mut self.before).join(&submission.known);
            self.host = Arc::clone(&submission.known);
        }
        for point in after {
            if !self.before.holds(&point.queue.line, point.ticket) {
                point.enter(Arc::make_mut(&mut self.before));
            }
        }
        self.submitted += 1;
        let item = self.submitted;
        Place::of_item(line, item, item - 1, &self.before, submission.number)
    }
}

/// A point in a queue: reached when all that was submitted before it is completed.
#[derive(Clone)]
pub(crate) struct CompletionPoint {
    queue: Arc<WorkQueue>,
    ticket: u64,
    /// What comes before it, of other queues.
    before: Arc<Clock>,
    /// What comes before a point of no queue, once that is known.
    promised: Option<Arc<OnceLock<Clock>>>,
}

impl CompletionPoint {
    /// A point of no queue, which is reached when [`CompletionPoint::complete`] is called.
    pub(crate) fn pending() -> Self {
        let queue = WorkQueue::new();
        lock(&queue.state).submitted = 1;
        Self {
            queue,
            ticket: 1,
            before: Arc::default(),
            promised: Some(Arc::default()),
        }
    }

    /// A point of no queue that is reached, and comes after what is in a clock.
    pub(crate) fn reached(before: Clock) -> Self {
        let point = Self::pending();
        point.promise(|clock| *clock = before);
        point.complete();
        point
    }

    /// Says what a point of no queue comes after.
    pub(crate) fn promise(&self, before: impl FnOnce(&mut Clock)) {
        if let Some(promised) = &self.promised {
            promised.get_or_init(|| {
                let mut clock = Clock::default();
                before(&mut clock);
                clock
            });
        }
    }

    /// Adds the point, and what comes before it, to what another one comes after.
    pub(crate) fn enter(&self, clock: &mut Clock) {
        clock.add(&self.queue.line, self.ticket, &self.before);
        if let Some(promised) = self.promised.as_ref().and_then(|promised| promised.get()) {
            clock.join(promised);
        }
    }

    /// The place of the item before the point, which was just submitted; of the items of its queue it comes after the first `own` only.
    pub(crate) fn place(&self, own: u64) -> Place {
        let number = host::submissions();
        let place = Place::of_item(&self.queue.line, self.ticket, own, &self.before, number);
        self.queue.place_of(place)
    }

    /// The number of the item before the point.
    pub(crate) fn item(&self) -> u64 {
        self.ticket
    }

    /// Whether both are points of one queue.
    pub(crate) fn is_in_queue_of(&self, other: &CompletionPoint) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }

    /// Whether `other` is known to be reached when this point is, by the order of queues and by what their items wait for.
    pub(crate) fn is_after(&self, other: &CompletionPoint) -> bool {
        match Arc::ptr_eq(&self.queue, &other.queue) {
            true => self.ticket >= other.ticket,
            false => self.before.holds(&other.queue.line, other.ticket),
        }
    }

    /// Completes a point made by [`CompletionPoint::pending`].
    pub(crate) fn complete(&self) {
        let mut state = lock(&self.queue.state);
        state.completed = state.completed.max(self.ticket);
        self.queue.changed.notify_all();
    }

    /// Whether the point has been reached.
    pub(crate) fn is_reached(&self) -> bool {
        lock(&self.queue.state).completed >= self.ticket
    }

    /// Blocks the host until the point is reached. What the host does from then on comes after it.
    pub(crate) fn wait(&self) {
        self.block();
        host::learn(|clock| self.enter(clock));
    }

    /// As [`is_reached`](Self::is_reached), asked by the host. If it is, what the host does from then on comes after it.
    pub(crate) fn is_seen_reached(&self) -> bool {
        let is_reached = self.is_reached();
        if is_reached {
            host::learn(|clock| self.enter(clock));
        }
        is_reached
    }

    /// Blocks a thread that executes work until the point is reached.
    pub(crate) fn block(&self) {
        let mut state = lock(&self.queue.state);
        while state.completed < self.ticket {
            state = self.queue.wait(state);
        }
    }
}

impl WorkQueue {
    /// An empty queue.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            line: Line::new(),
            label: OnceLock::new(),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Says what reports call it.
    pub(crate) fn set_label(&self, label: impl FnOnce() -> Arc<str>) {
        self.label.get_or_init(label);
    }

    /// What reports call it.
    pub(crate) fn label(&self) -> Arc<str> {
        self.label.get().cloned().unwrap_or_default()
    }

    fn place_of(&self, place: Place) -> Place {
        match self.label.get() {
            Some(label) => place.labelled(label),
            None => place,
        }
    }

    /// The point after all that has been submitted.
    pub(crate) fn end(self: &Arc<Self>) -> CompletionPoint {
        self.end_of(&lock(&self.state))
    }

    fn end_of(self: &Arc<Self>, state: &QueueState) -> CompletionPoint {
        CompletionPoint {
            queue: Arc::clone(self),
            ticket: state.submitted,
            before: Arc::clone(&state.before),
            promised: None,
        }
    }

    /// Whether all that was submitted is completed.
    pub(crate) fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        state.completed == state.submitted
    }

    /// Its stream is gone, and what it has is the last work: its thread, which keeps it, need not wait for more.
    pub(crate) fn retire(&self) {
        lock(&self.state).is_retired = true;
        self.changed.notify_all();
    }

    /// Blocks while the queue is full and goes on.
    pub(crate) fn room(&self) -> Room {
        self.room_within(STALLED)
    }

    /// As [`room`](Self::room), where a queue counts as stalled after `patience`.
    fn room_within(&self, patience: Duration) -> Room {
        let mut state = lock(&self.state);
        if state.pending.len() < ROOM {
            return Room(());
        }
        let mut completed = state.completed;
        let mut since = Instant::now();
        while state.pending.len() >= ROOM + state.extra_room {
            let waited = since.elapsed();
            if state.completed != completed {
                completed = state.completed;
                since = Instant::now();
            } else if waited >= patience {
                state.extra_room += ROOM;
            } else {
                let (woken, _) = self
                    .changed
                    .wait_timeout(state, patience - waited)
                    .unwrap_or_else(PoisonError::into_inner);
                state = woken;
            }
        }
        Room(())
    }

    /// Appends work that waits for the points of `after` as well. The point returned is reached when the work is completed.
    ///
    /// # Panics
    ///
    /// If the system refuses a thread.
    pub(crate) fn submit(
        self: &Arc<Self>,
        after: Vec<CompletionPoint>,
        work: Work,
    ) -> CompletionPoint {
        let mut state = lock(&self.state);
        self.append(&mut state, after, work);
        self.end_of(&state)
    }

    /// As [`submit`](Self::submit), if the point before is this one; else nothing is appended.
    pub(crate) fn submit_directly_after(
        self: &Arc<Self>,
        before: &CompletionPoint,
        after: Vec<CompletionPoint>,
        work: Work,
    ) -> Option<CompletionPoint> {
        let mut state = lock(&self.state);
        if !Arc::ptr_eq(self, &before.queue) || state.submitted != before.ticket {
            return None;
        }
        self.append(&mut state, after, work);
        Some(self.end_of(&state))
    }

    fn append(self: &Arc<Self>, state: &mut QueueState, after: Vec<CompletionPoint>, work: Work) {
        if state.has_thread {
            self.changed.notify_all();
        } else {
            let queue = Arc::clone(self);
            std::thread::Builder::new()
                .name("warpsmith stream".to_owned())
                .spawn(move || queue.serve())
                .expect("the system refuses a thread for a stream");
            state.has_thread = true;
        }
        let place = self.place_of(state.follow(&self.line, &after));
        state.pending.push_back(Item { after, work, place });
    }

    /// Appends work and waits for it; executes it on the calling thread where nothing is before it.
    pub(crate) fn run(self: &Arc<Self>, after: Vec<CompletionPoint>, work: Work) {
        // Before the lock: a point may be one of this very queue.
        let ready = after.iter().all(CompletionPoint::is_reached);
        let mut state = lock(&self.state);
        if state.executing || !state.pending.is_empty() || !ready {
            drop(state);
            self.submit(after, work).wait();
            return;
        }
        let place = self.place_of(state.follow(&self.line, &after));
        state.executing = true;
        drop(state);
        let state = self.execute(place, work);
        let end = self.end_of(&state);
        drop(state);
        host::learn(|clock| end.enter(clock));
    }

    /// Executes one item, for which `executing` has been set, and counts it as completed.
    fn execute(&self, place: Place, work: Work) -> MutexGuard<'_, QueueState> {
        // The default hook has printed the panic; what waits for the item must not wait for ever.
        let _ = catch_unwind(AssertUnwindSafe(|| at_place(Some(place), work)));
        host::end();
        let mut state = lock(&self.state);
        state.executing = false;
        state.completed += 1;
        state.extra_room = 0;
        self.changed.notify_all();
        state
    }

    fn wait<'a>(&self, state: MutexGuard<'a, QueueState>) -> MutexGuard<'a, QueueState> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue's thread.
    fn serve(&self) {
        let mut state = lock(&self.state);
        loop {
            if state.executing {
                state = self.wait(state);
            } else if let Some(Item { after, work, place }) = state.pending.pop_front() {
                state.executing = true;
                drop(state);
                after.iter().for_each(CompletionPoint::block);
                state = self.execute(place, work);
            } else if state.is_retired {
                state.has_thread = false;
                return;
            } else {
                let (woken, timeout) = self
                    .changed
                    .wait_timeout(state, LINGER)
                    .unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if timeout.timed_out() && state.pending.is_empty() && !state.executing {
                    state.has_thread = false;
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
