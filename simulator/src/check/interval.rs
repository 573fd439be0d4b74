//! What the threads of a block have done to its memory since their last barrier.
//!
//! Accesses that `stamps` admits are only noted. A barrier of all threads orders them before everything that follows, and the
//! notes are thrown away; most accesses never reach `shadow`. Only where an access is not admitted, or where what the threads
//! know changes otherwise, are the notes entered there, in order, as if each had been recorded at once.

use super::access::{Access, AccessClass, Site};
use super::clock::{Clocks, Thread};
use super::known::NO_AGENT;
use super::pattern::{Pattern, RUN_LANES, RUNS, RunPattern, run_starts};
use super::shadow::{LaneAccess, Shadow};

/// Most notes of an interval: beyond, accesses go to the shadow directly.
const MOST_NOTES: usize = 1 << 15;

/// How accesses of the interval are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// By stamps; they are noted.
    Stamped,
    /// By the shadow.
    Shadowed,
}

/// The offsets of an access that was admitted.
#[derive(Clone, Copy, Debug)]
enum Starts {
    /// Of all lanes, one after the other, from here.
    Consecutive(u32),
    /// Of all lanes the same.
    Same(u32),
    /// Of runs of lanes.
    Runs([RunPattern; RUNS], [u32; RUNS]),
    /// In `Interval::scattered`.
    Scattered(u32),
}

/// An access that was admitted.
#[derive(Clone, Copy, Debug)]
struct Note {
    site: Site,
    epoch: u32,
    mask: u32,
    starts: Starts,
    size: u32,
    /// The thread of lane 0.
    first: Thread,
    class: AccessClass,
}

/// The interval of one block.
#[derive(Debug)]
pub(super) struct Interval {
    /// Its number in stamps.
    pub number: u32,
    pub mode: Mode,
    /// An epoch later than all accesses that the block's barrier does not order: by other blocks of the cluster. 0 for none.
    pub foreign: u32,
    /// The latest epoch of the block's accesses in it.
    pub latest: u32,
    notes: Vec<Note>,
    scattered: Vec<[u32; 32]>,
}

impl Interval {
    pub fn new() -> Interval {
        Interval {
            number: 1,
            mode: Mode::Stamped,
            foreign: 0,
            latest: 0,
            notes: Vec::new(),
            scattered: Vec::new(),
        }
    }

    /// Forgets the notes.
    pub fn clear(&mut self) {
        self.notes.clear();
        self.scattered.clear();
    }

    /// Whether there is room for another note.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.notes.len() < MOST_NOTES
    }

    /// Notes an access that was admitted.
    #[inline]
    pub fn note(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        pattern: Pattern,
        first: Thread,
        epoch: u32,
    ) {
        let starts = match pattern {
            Pattern::Consecutive => Starts::Consecutive(access.offsets[0]),
            Pattern::Same => Starts::Same(access.offsets[0]),
            Pattern::Runs(runs) => Starts::Runs(runs, run_starts(access)),
            Pattern::Scattered => {
                self.scattered.push(*access.offsets);
                Starts::Scattered(self.scattered.len() as u32 - 1)
            }
        };
        self.latest = self.latest.max(epoch);
        self.notes.push(Note {
            site: access.site,
            epoch,
            mask: access.mask,
            starts,
            size: access.size,
            first,
            class,
        });
    }

    /// Enters the notes in the shadow.
    #[cold]
    pub fn enter(&mut self, clocks: &Clocks, shadow: &mut Shadow) {
        self.enter_some(clocks, shadow, |_| true);
    }

    /// Enters the notes of writes in the shadow, and forgets the others.
    #[cold]
    pub fn enter_writes(&mut self, clocks: &Clocks, shadow: &mut Shadow) {
        self.enter_some(clocks, shadow, |class| class.kind.writes());
    }

    fn enter_some(
        &mut self,
        clocks: &Clocks,
        shadow: &mut Shadow,
        is_wanted: impl Fn(AccessClass) -> bool,
    ) {
        for note in self.notes.iter().filter(|note| is_wanted(note.class)) {
            for lane in (0..32).filter(|lane| note.mask >> lane & 1 != 0) {
                let offset = match note.starts {
                    Starts::Consecutive(start) => start + lane * note.size,
                    Starts::Same(start) => start,
                    Starts::Runs(runs, starts) => {
                        let (run, inside) = (lane as usize / RUN_LANES, lane % RUN_LANES as u32);
                        match runs[run] {
                            RunPattern::Consecutive => starts[run] + inside * note.size,
                            RunPattern::Same => starts[run],
                        }
                    }
                    Starts::Scattered(index) => self.scattered[index as usize][lane as usize],
                };
                let access = LaneAccess {
                    thread: note.first + lane as Thread,
                    lane,
                    agent: NO_AGENT,
                    site: note.site,
                    class: note.class,
                    epoch: note.epoch,
                };
                let by = clocks.observer(access.thread);
                for cell in shadow.range(offset, note.size) {
                    shadow.record(&by, cell, &access);
                }
            }
        }
        self.clear();
    }
}
