//! The work of a stream, numbered, and what a position in a stream comes after.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::sync::lock;

/// The launches of one stream, numbered from 1 on: kernels that can panic, graphs, functions on the host, and all that uses memory that the
/// host can reach.
#[derive(Default)]
pub(crate) struct Timeline {
    /// The last number.
    launched: AtomicU64,
    /// How many of them are enqueued, or were refused. Threads may number and enqueue launches beside each other.
    enqueued: AtomicU64,
    /// All up to this number are done: some wait covered them.
    past: AtomicU64,
    /// All up to this number are done, and the panics in them were told.
    done: AtomicU64,
    /// How many positions were taken, each of which may separate launches of a graph, or work that shares a number, for a wait. Before there is
    /// such work there is nothing to separate, and [`after_last`](Self::after_last) and [`end`](Self::end) do not count.
    positions: AtomicU64,
    /// Whether a graph was launched, or is about to be.
    has_graphs: AtomicBool,
    /// Whether work shares a number, or is about to.
    has_shared: AtomicBool,
    /// The stream is gone: only waits for the device, and for what followed it, still cover it.
    is_gone: AtomicBool,
    followed: Mutex<Vec<Followed>>,
}

/// A new launch. It counts as one that may still have to be enqueued until this is dropped.
pub(crate) struct NewLaunch<'a> {
    timeline: &'a Timeline,
    /// Its number.
    pub(crate) number: u64,
}

impl Drop for NewLaunch<'_> {
    #[inline]
    fn drop(&mut self) {
        self.timeline.enqueued.fetch_add(1, Ordering::Release);
    }
}

/// The number of a launch, which later work in the stream may share until something comes between that a wait may be made for, or a launch with
/// another number.
#[derive(Clone, Copy)]
pub(crate) struct SharedNumber {
    pub(crate) number: u64,
    /// The stream's count of positions since `number` was given.
    positions: u64,
}

/// That launches come after those of another stream.
struct Followed {
    /// From this number on.
    from: u64,
    reached: Reached,
}

/// The launches of one timeline that a position comes after.
#[derive(Clone)]
struct Reached {
    timeline: Arc<Timeline>,
    /// Up to this number.
    launch: u64,
    /// Up to this number they were enqueued when the position was taken: a wait for it is one for them.
    enqueued: u64,
}

impl Timeline {
    /// Numbers a new launch.
    #[inline]
    pub(crate) fn next(&self) -> NewLaunch<'_> {
        NewLaunch {
            timeline: self,
            // Sequentially consistent, as all of `launched`, `positions` and `has_graphs`: see `positions` and `after_last`.
            number: self.launched.fetch_add(1, Ordering::SeqCst) + 1,
        }
    }

    /// Numbers a new launch whose number later work may share.
    pub(crate) fn next_shared(&self) -> (NewLaunch<'_>, SharedNumber) {
        if !self.has_shared.load(Ordering::SeqCst) {
            self.has_shared.store(true, Ordering::SeqCst);
        }
        // In this order: who has not counted a position by then takes one before this number, as in `after_last`; who counts it between the two
        // finds that this launch may still have to be enqueued.
        let launch = self.next();
        let shared = SharedNumber {
            number: launch.number,
            positions: self.positions(),
        };
        (launch, shared)
    }

    /// Whether a wait for this number waits for the last work that has shared it: neither was a position taken since it was given, nor another number.
    #[inline]
    pub(crate) fn is_current(&self, shared: &SharedNumber) -> bool {
        self.last() == shared.number && self.positions() == shared.positions
    }

    /// A number up to which all launches are enqueued: the last one, or 0 where some may still have to be.
    fn all_enqueued(&self) -> u64 {
        // In this order: so many were enqueued before the numbers were looked at, and if there are no more numbers, these are all.
        let enqueued = self.enqueued.load(Ordering::Acquire);
        if enqueued == self.last() { enqueued } else { 0 }
    }

    /// The number of the last launch.
    #[inline]
    pub(crate) fn last(&self) -> u64 {
        self.launched.load(Ordering::SeqCst)
    }

    /// The number of the last launch, for work that has none of its own and comes after it: a position that others may follow.
    #[inline]
    pub(crate) fn after_last(&self) -> u64 {
        // In this order: a graph that is not known of yet gets its numbers later, all of them beyond this one.
        let last = self.last();
        if !self.has_graphs.load(Ordering::SeqCst) {
            return last;
        }
        self.after_last_counted()
    }

    #[cold]
    fn after_last_counted(&self) -> u64 {
        // In this order: see `positions`.
        self.positions.fetch_add(1, Ordering::SeqCst);
        self.last()
    }

    /// A graph is about to be launched: from here on positions are counted.
    pub(super) fn expect_graphs(&self) {
        // Only read from the second time on: the store waits for all others.
        if !self.has_graphs.load(Ordering::SeqCst) {
            self.has_graphs.store(true, Ordering::SeqCst);
        }
    }

    /// The end of the stream as it is now, as a position of which a wait may be made.
    pub(crate) fn end(self: &Arc<Self>) -> Reach {
        // In this order: what shares a number that is not known of yet gets it later, beyond this one.
        let last = self.after_last();
        let launch = match self.has_shared.load(Ordering::SeqCst) {
            true => self.after_last_counted(),
            false => last,
        };
        self.reach(launch)
    }

    /// What comes after this launch and before the next, as a position that others follow. The caller holds the order lock.
    pub(crate) fn up_to(self: &Arc<Self>, launch: u64) -> Reach {
        self.positions.fetch_add(1, Ordering::SeqCst);
        self.reach(launch)
    }

    fn reach(self: &Arc<Self>, launch: u64) -> Reach {
        let mut reach = Reach::default();
        reach.add(&Reached {
            timeline: self.clone(),
            launch,
            enqueued: self.all_enqueued().min(launch),
        });
        for followed in lock(&self.followed).iter() {
            if followed.from <= launch {
                reach.add(&followed.reached);
            }
        }
        reach
    }

    /// Notes that this launch and later ones come after another position.
    pub(crate) fn follow(self: &Arc<Self>, launch: &NewLaunch<'_>, other: &Reach) {
        let mut followed = lock(&self.followed);
        // What is done and told need not be kept.
        followed.retain(|followed| !followed.reached.is_done());
        for new in &other.launches {
            let known = |known: &Followed| {
                Arc::ptr_eq(&known.reached.timeline, &new.timeline)
                    && new.launch <= known.reached.launch
                    && new.enqueued <= known.reached.enqueued
            };
            if !Arc::ptr_eq(&new.timeline, self) && !new.is_done() && !followed.iter().any(known) {
                followed.push(Followed {
                    from: launch.number,
                    reached: new.clone(),
                });
            }
        }
    }

    /// How many positions were taken. A launch that got its number first and then sees the same count as an earlier launch is in the reach of
    /// every position that the earlier one is in: taking one counts first and then looks at the numbers.
    #[inline]
    pub(super) fn positions(&self) -> u64 {
        self.positions.load(Ordering::SeqCst)
    }

    /// Whether some wait covered a launch, so that it is done. The stream may hold later work.
    pub(crate) fn is_past(&self, launch: u64) -> bool {
        self.past() >= launch
    }

    /// Up to which launch some wait covered all.
    pub(crate) fn past(&self) -> u64 {
        self.past.load(Ordering::Acquire)
    }

    /// Whether a launch is done and the panics in it were told.
    pub(super) fn is_done(&self, launch: u64) -> bool {
        self.done.load(Ordering::Acquire) >= launch
    }

    /// The stream is destroyed, and was idle.
    pub(crate) fn leave(&self) {
        self.is_gone.store(true, Ordering::Release);
    }
}

impl Reached {
    fn is_done(&self) -> bool {
        self.timeline.is_done(self.launch)
    }
}

/// What a position comes after: of each timeline the launches up to a number.
#[derive(Clone, Default)]
pub(crate) struct Reach {
    launches: Vec<Reached>,
    /// The streams that are gone, too.
    with_gone: bool,
}

impl Reach {
    /// Adds all streams that are gone.
    pub(crate) fn add_gone(&mut self) {
        self.with_gone = true;
    }

    /// Adds all that another position comes after.
    pub(crate) fn merge(&mut self, other: &Reach) {
        self.launches.retain(|reached| !reached.is_done());
        for reached in &other.launches {
            self.add(reached);
        }
        self.with_gone |= other.with_gone;
    }

    fn add(&mut self, reached: &Reached) {
        if reached.is_done() {
            return;
        }
        let known = self
            .launches
            .iter_mut()
            .find(|known| Arc::ptr_eq(&known.timeline, &reached.timeline));
        match known {
            Some(known) => {
                known.launch = known.launch.max(reached.launch);
                known.enqueued = known.enqueued.max(reached.enqueued);
            }
            None => self.launches.push(reached.clone()),
        }
    }

    /// Whether there is nothing in it that may still have to be told.
    pub(crate) fn is_told(&self) -> bool {
        !self.with_gone && self.launches.iter().all(Reached::is_done)
    }

    /// Whether the position comes after this launch.
    pub(crate) fn covers(&self, timeline: &Arc<Timeline>, launch: u64) -> bool {
        self.with_gone && timeline.is_gone.load(Ordering::Acquire) || self.names(timeline, launch)
    }

    /// As [`covers`](Self::covers), without the streams that are gone: those are its own device's alone.
    pub(crate) fn names(&self, timeline: &Arc<Timeline>, launch: u64) -> bool {
        self.launches
            .iter()
            .any(|known| Arc::ptr_eq(&known.timeline, timeline) && launch <= known.launch)
    }

    /// Notes that all of it is done.
    pub(crate) fn set_past(&self) {
        for reached in &self.launches {
            reached
                .timeline
                .past
                .fetch_max(reached.enqueued, Ordering::AcqRel);
        }
    }

    /// Notes that all of it is done, and that the panics in it were told.
    pub(crate) fn set_done(&self) {
        for reached in &self.launches {
            reached
                .timeline
                .done
                .fetch_max(reached.enqueued, Ordering::AcqRel);
        }
    }
}

impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let launches = self.launches.iter().map(|reached| reached.launch);
        f.debug_list().entries(launches).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_comes_after_what_it_followed() {
        let [one, two] = [(); 2].map(|()| Arc::new(Timeline::default()));
        let first = one.next().number;
        let of_one = one.end();
        let second = one.next().number;
        let before = two.next().number;
        two.follow(&two.next(), &of_one);
        let after = two.next().number;
        assert!(of_one.covers(&one, first) && !of_one.covers(&one, second));
        let end = two.end();
        assert!(end.covers(&two, after) && end.covers(&one, first) && !end.covers(&one, second));
        assert!(two.up_to(after - 1).covers(&one, first));
        assert!(!two.up_to(before).covers(&one, first));
        // Done and told: nobody needs to be told again.
        end.set_done();
        assert!(!two.end().covers(&one, first));
        assert!(one.end().covers(&one, second));
    }

    /// A thread numbered its launch; another one waits before it is enqueued, and after.
    #[test]
    fn a_launch_that_was_not_enqueued_is_not_done() {
        let [stream, other] = [(); 2].map(|()| Arc::new(Timeline::default()));
        let first = stream.next();
        // Enqueued before the first, by a third thread.
        drop(stream.next());
        let launch = first.number;
        let early = stream.end();
        other.follow(&other.next(), &early);
        drop(first);
        early.set_done();
        other.end().set_done();
        assert!(!stream.is_done(launch));
        let late = stream.end();
        assert!(late.covers(&stream, launch));
        late.set_done();
        assert!(stream.is_done(launch) && !stream.end().covers(&stream, launch));
    }

    #[test]
    fn positions_separate_launches_of_graphs() {
        let stream = Arc::new(Timeline::default());
        stream.next();
        assert_eq!((stream.after_last(), stream.positions()), (1, 0));
        stream.expect_graphs();
        stream.next();
        assert_eq!((stream.after_last(), stream.positions()), (2, 1));
        stream.expect_graphs();
        stream.end();
        assert_eq!(stream.positions(), 2);
    }

    #[test]
    fn work_shares_a_number_until_something_comes_between() {
        let stream = Arc::new(Timeline::default());
        stream.end();
        assert_eq!(stream.positions(), 0);
        let (launch, first) = stream.next_shared();
        // Not enqueued yet.
        let early = stream.end();
        assert!(!stream.is_current(&first));
        drop(launch);
        early.set_past();
        assert!(!stream.is_past(first.number));
        let (launch, second) = stream.next_shared();
        drop(launch);
        assert!(stream.is_current(&second));
        // Work that has no number of its own.
        assert_eq!(stream.after_last(), second.number);
        assert!(stream.is_current(&second));
        let late = stream.end();
        assert!(!stream.is_current(&second));
        late.set_past();
        assert!(stream.is_past(second.number));
        let (launch, third) = stream.next_shared();
        drop(launch);
        assert!(stream.is_current(&third) && !stream.is_past(third.number));
        stream.up_to(third.number - 1);
        assert!(!stream.is_current(&third));
        let (launch, fourth) = stream.next_shared();
        drop(launch);
        stream.next();
        assert!(!stream.is_current(&fourth));
    }

    #[test]
    fn streams_that_are_gone_are_the_devices() {
        let gone = Arc::new(Timeline::default());
        let launch = gone.next().number;
        let mut device = Reach::default();
        device.add_gone();
        assert!(!device.covers(&gone, launch));
        gone.leave();
        assert!(device.covers(&gone, launch));
        assert!(!Reach::default().covers(&gone, launch));
    }
}
