//! What the threads of a block have done to its memory since their last barrier.
//!
//! Accesses that `stamps` admits are only noted. A barrier of all threads orders them before everything that follows, and the
//! notes are thrown away; most accesses never reach `shadow`. Only where an access is not admitted, or where what the threads
//! know changes otherwise, are the notes entered there, in order, as if each had been recorded at once.

use super::access::{Access, AccessClass, Site};
use super::clock::{Clocks, Thread};
use super::pattern::Pattern;
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

/// An access that was admitted.
#[derive(Clone, Copy, Debug)]
struct Note {
    site: Site,
    epoch: u32,
    mask: u32,
    /// The first offset, or where the offsets are in `Interval::scattered`.
    start: u32,
    size: u32,
    /// The thread of lane 0.
    first: Thread,
    class: AccessClass,
    pattern: Pattern,
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
        let start = match pattern {
            Pattern::Consecutive | Pattern::Same => access.offsets[0],
            Pattern::Runs(_) | Pattern::Scattered => {
                self.scattered.push(*access.offsets);
                self.scattered.len() as u32 - 1
            }
        };
        self.latest = self.latest.max(epoch);
        self.notes.push(Note {
            site: access.site,
            epoch,
            mask: access.mask,
            start,
            size: access.size,
            first,
            class,
            pattern,
        });
    }

    /// Enters the notes in the shadow.
    #[cold]
    pub fn enter(&mut self, clocks: &Clocks, shadow: &mut Shadow) {
        for note in &self.notes {
            for lane in (0..32).filter(|lane| note.mask >> lane & 1 != 0) {
                let offset = match note.pattern {
                    Pattern::Consecutive => note.start + lane * note.size,
                    Pattern::Same => note.start,
                    Pattern::Runs(_) | Pattern::Scattered => {
                        self.scattered[note.start as usize][lane as usize]
                    }
                };
                let access = LaneAccess {
                    thread: note.first + lane as Thread,
                    lane,
                    site: note.site,
                    class: note.class,
                    epoch: note.epoch,
                };
                for cell in shadow.range(offset, note.size) {
                    shadow.record(clocks, cell, &access);
                }
            }
        }
        self.clear();
    }
}
