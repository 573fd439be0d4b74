//! The launches of a stream, numbered, and what a position in a stream comes after.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::sync::lock;

/// The launches of one stream: kernels, graphs and functions on the host, numbered from 1 on.
#[derive(Default)]
pub(crate) struct Timeline {
    /// The last number.
    launched: AtomicU64,
    /// All up to this number are done, and the panics in them were told.
    done: AtomicU64,
    /// How many positions were taken, each of which may separate launches for a wait.
    positions: AtomicU64,
    /// The stream is gone: only waits for the device, and for what followed it, still cover it.
    is_gone: AtomicBool,
    followed: Mutex<Vec<Followed>>,
}

/// That launches come after those of another stream.
struct Followed {
    /// Those that are numbered higher than this.
    after: u64,
    timeline: Arc<Timeline>,
    /// Up to this number.
    launch: u64,
}

impl Timeline {
    /// The number of a new launch.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        // Sequentially consistent, as all of `launched` and `positions`: see `positions`.
        self.launched.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The number of the last launch.
    #[inline]
    pub(crate) fn last(&self) -> u64 {
        self.launched.load(Ordering::SeqCst)
    }

    /// The end of the stream as it is now, as a position of which a wait may be made.
    pub(crate) fn end(self: &Arc<Self>) -> Reach {
        // In this order: see `positions`.
        self.positions.fetch_add(1, Ordering::SeqCst);
        self.up_to(self.last())
    }

    /// What comes after this launch and before the next.
    pub(crate) fn up_to(self: &Arc<Self>, launch: u64) -> Reach {
        let mut reach = Reach::default();
        reach.add(self, launch);
        for followed in lock(&self.followed).iter() {
            if followed.after <= launch {
                reach.add(&followed.timeline, followed.launch);
            }
        }
        reach
    }

    /// Notes that later launches come after another position.
    pub(crate) fn follow(self: &Arc<Self>, other: &Reach) {
        let after = self.last();
        let mut followed = lock(&self.followed);
        // What is done and told need not be kept.
        followed.retain(|followed| !followed.timeline.is_done(followed.launch));
        for (timeline, launch) in &other.launches {
            let known = |known: &Followed| {
                Arc::ptr_eq(&known.timeline, timeline) && *launch <= known.launch
            };
            if !Arc::ptr_eq(timeline, self)
                && !timeline.is_done(*launch)
                && !followed.iter().any(known)
            {
                followed.push(Followed {
                    after,
                    timeline: timeline.clone(),
                    launch: *launch,
                });
            }
        }
    }

    /// How many positions were taken. A launch that got its number first and then sees the same count as an earlier launch is in the reach of
    /// every position that the earlier one is in: taking one counts first and then looks at the numbers.
    pub(super) fn positions(&self) -> u64 {
        self.positions.load(Ordering::SeqCst)
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

/// What a position comes after: of each timeline the launches up to a number.
#[derive(Clone, Default)]
pub(crate) struct Reach {
    launches: Vec<(Arc<Timeline>, u64)>,
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
        self.launches
            .retain(|(timeline, launch)| !timeline.is_done(*launch));
        for (timeline, launch) in &other.launches {
            self.add(timeline, *launch);
        }
        self.with_gone |= other.with_gone;
    }

    fn add(&mut self, timeline: &Arc<Timeline>, launch: u64) {
        if timeline.is_done(launch) {
            return;
        }
        let known = self
            .launches
            .iter_mut()
            .find(|(known, _)| Arc::ptr_eq(known, timeline));
        match known {
            Some((_, known)) => *known = launch.max(*known),
            None => self.launches.push((timeline.clone(), launch)),
        }
    }

    /// Whether the position comes after this launch.
    pub(crate) fn covers(&self, timeline: &Arc<Timeline>, launch: u64) -> bool {
        self.with_gone && timeline.is_gone.load(Ordering::Acquire)
            || self
                .launches
                .iter()
                .any(|(known, last)| Arc::ptr_eq(known, timeline) && launch <= *last)
    }

    /// Notes that all of it is done, and that the panics in it were told.
    pub(crate) fn set_done(&self) {
        for (timeline, launch) in &self.launches {
            timeline.done.fetch_max(*launch, Ordering::AcqRel);
        }
    }
}

impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let launches = self.launches.iter().map(|(_, launch)| launch);
        f.debug_list().entries(launches).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_comes_after_what_it_followed() {
        let [one, two] = [(); 2].map(|()| Arc::new(Timeline::default()));
        let first = one.next();
        let of_one = one.end();
        let second = one.next();
        let before = two.next();
        two.follow(&of_one);
        let after = two.next();
        assert!(of_one.covers(&one, first) && !of_one.covers(&one, second));
        let end = two.end();
        assert!(end.covers(&two, after) && end.covers(&one, first) && !end.covers(&one, second));
        // Work after `before` may have come after it was followed.
        assert!(two.up_to(before).covers(&one, first));
        assert!(!two.up_to(before - 1).covers(&one, first));
        // Done and told: nobody needs to be told again.
        end.set_done();
        assert!(!two.end().covers(&one, first));
        assert!(one.end().covers(&one, second));
    }

    #[test]
    fn streams_that_are_gone_are_the_devices() {
        let gone = Arc::new(Timeline::default());
        let launch = gone.next();
        let mut device = Reach::default();
        device.add_gone();
        assert!(!device.covers(&gone, launch));
        gone.leave();
        assert!(device.covers(&gone, launch));
        assert!(!Reach::default().covers(&gone, launch));
    }
}
