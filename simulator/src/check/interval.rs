//! What the threads of a block have done to its memory since their last barrier.
//!
//! Accesses that `stamps` admits are only noted. A barrier of all threads orders them before everything that follows, and the
//! notes are thrown away; most accesses never reach `shadow`. Only where an access is not admitted are the notes entered
//! there, in order, as if each had been recorded at once: a note says what its warp knew when the access was made.

use super::access::{Access, AccessClass, Site};
use super::cells::DenseCells;
use super::clock::WarpView;
use super::known::{ClusterThread, Number};
use super::pattern::{Pattern, RUN_LANES, RUNS, RunPattern, run_starts};
use super::shadow::{Cell, LaneAccess, Reads, Shadow};

/// The shadow of a cluster.
type ClusterShadow = Shadow<ClusterThread, DenseCells<Cell<ClusterThread>>>;

/// Most notes of an interval: beyond, accesses go to the shadow directly. Few in tests, so that they get there.
const MOST_NOTES: usize = if cfg!(test) { 16 } else { 1 << 15 };

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
    first: ClusterThread,
    class: AccessClass,
    /// The epochs below which accesses of the block and of the warp were ordered before it.
    floor: u32,
    of_warp: u32,
}

/// The interval of one block.
#[derive(Debug)]
pub(super) struct Interval {
    /// The epoch from which stamps count.
    pub base: u32,
    pub mode: Mode,
    /// The first thread of the block.
    first: ClusterThread,
    /// An epoch later than all accesses that the block's barrier does not order: by other blocks of the cluster. 0 for none.
    pub foreign: u32,
    /// The latest epoch of the block's accesses in it.
    pub latest: u32,
    notes: Vec<Note>,
    scattered: Vec<[u32; 32]>,
}

impl Interval {
    /// Of a block with this first thread.
    pub fn new(first: ClusterThread) -> Interval {
        Interval {
            first,
            base: 0,
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

    /// Forgets the notes that are ordered before all that the block's threads do from now on: by warp, those of epochs below these.
    /// So much that it is worth it, or there is still no room.
    #[cold]
    pub fn forget(&mut self, seen: &[u32]) {
        let is_seen = |note: &Note| {
            let warp = (note.first - self.first) / 32;
            note.epoch < seen[usize::from(warp)]
        };
        let kept = self.notes.iter().filter(|note| !is_seen(note)).count();
        if kept > MOST_NOTES / 2 {
            return;
        }
        let mut scattered = Vec::new();
        let mut notes = Vec::with_capacity(MOST_NOTES);
        for note in self.notes.iter().filter(|note| !is_seen(note)) {
            let mut note = *note;
            if let Starts::Scattered(index) = &mut note.starts {
                scattered.push(self.scattered[*index as usize]);
                *index = scattered.len() as u32 - 1;
            }
            notes.push(note);
        }
        (self.notes, self.scattered) = (notes, scattered);
    }

    /// Notes an access that was admitted.
    #[inline]
    pub fn note(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        pattern: Pattern,
        first: ClusterThread,
        view: WarpView,
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
        self.latest = self.latest.max(view.now);
        self.notes.push(Note {
            site: access.site,
            epoch: view.now,
            floor: view.floor,
            of_warp: view.of_warp,
            mask: access.mask,
            starts,
            size: access.size,
            first,
            class,
        });
    }

    /// Enters the notes in the shadow.
    #[cold]
    pub fn enter(&mut self, shadow: &mut ClusterShadow) {
        self.enter_some(shadow, |_| true);
    }

    /// Enters the notes of writes in the shadow, and forgets the others.
    #[cold]
    pub fn enter_writes(&mut self, shadow: &mut ClusterShadow) {
        self.enter_some(shadow, |class| class.kind.writes());
    }

    fn enter_some(&mut self, shadow: &mut ClusterShadow, is_wanted: impl Fn(AccessClass) -> bool) {
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
                    thread: note.first.plus(lane),
                    lane,
                    agent: ClusterThread::NO_AGENT,
                    site: note.site,
                    class: note.class,
                    epoch: note.epoch,
                };
                // What the thread knows by now it may not have known then.
                let is_covered = |reads: &Reads<ClusterThread>| {
                    reads.was_seen(note.floor, note.of_warp, &access)
                };
                shadow.record(&access, (offset, note.size), is_covered);
            }
        }
        self.clear();
    }
}
