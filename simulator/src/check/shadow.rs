//! Shadow memory: what is remembered of each word, or of each byte once a kernel makes narrower accesses.

use warpsmith_isa::effect::{AccessKind, Order, Proxy, Scope};

use super::access::{AccessClass, Site};
use super::clock::{Observer, Thread};

/// A write, or `epoch` 0 for none.
#[derive(Clone, Copy, Debug)]
struct Write {
    epoch: u32,
    site: Site,
    thread: Thread,
    class: AccessClass,
}

impl Write {
    const NONE: Write = Write {
        epoch: 0,
        site: 0,
        thread: 0,
        class: NO_CLASS,
    };
}

/// Of no access.
const NO_CLASS: AccessClass = AccessClass {
    kind: AccessKind::Read,
    order: Order::Weak,
    scope: Scope::Block,
    proxy: Proxy::Generic,
};

/// Reads by lanes of one warp in one epoch; `epoch` 0 for none.
#[derive(Clone, Copy, Debug)]
struct Reads {
    epoch: u32,
    site: Site,
    mask: u32,
    /// The thread of the warp's lane 0.
    first: Thread,
    class: AccessClass,
}

/// What is known of a word or byte.
#[derive(Clone, Copy, Debug)]
struct Cell {
    weak: Write,
    strong: Write,
    reads: Reads,
    /// Where reads by further warps are, in `Shadow::further_reads`, plus one.
    further_reads: u32,
}

impl Cell {
    const UNTOUCHED: Cell = Cell {
        weak: Write::NONE,
        strong: Write::NONE,
        reads: Reads {
            epoch: 0,
            site: 0,
            mask: 0,
            first: 0,
            class: NO_CLASS,
        },
        further_reads: 0,
    };
}

/// The earlier access of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlierAccess {
    pub thread: Thread,
    pub site: Site,
    pub class: AccessClass,
}

/// One lane's access to one cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneAccess {
    pub thread: Thread,
    pub lane: u32,
    pub site: Site,
    pub class: AccessClass,
    /// The thread's epoch when it was made.
    pub epoch: u32,
}

/// The shadow of a cluster's shared memory.
#[derive(Debug)]
pub(super) struct Shadow {
    bytes: u32,
    /// Bytes that a cell stands for: 4, 2 or 1.
    grain: u32,
    cells: Vec<Cell>,
    further_reads: Vec<Vec<Reads>>,
    /// Where in such a list the last reads were found.
    hint: usize,
}

impl Shadow {
    pub fn new(bytes: u32) -> Shadow {
        Shadow {
            bytes,
            grain: 4,
            cells: vec![Cell::UNTOUCHED; bytes.div_ceil(4) as usize],
            further_reads: Vec::new(),
            hint: 0,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.cells.fill(Cell::UNTOUCHED);
        self.further_reads.clear();
    }

    /// The width of cells that an access asks for, if they are to be made narrower.
    #[inline]
    pub fn narrower(&self, offset: u32, size: u32) -> Option<u32> {
        if size == 0 {
            return None;
        }
        let need = 1 << (offset | size).trailing_zeros().min(2);
        (need < self.grain).then_some(need)
    }

    /// The cells of an access that asks for none narrower.
    #[inline]
    pub fn range(&self, offset: u32, size: u32) -> std::ops::Range<u32> {
        let end = (offset + size).min(self.bytes);
        offset / self.grain..end.div_ceil(self.grain)
    }

    /// The first byte of a cell.
    pub fn offset(&self, cell: u32) -> u32 {
        cell * self.grain
    }

    /// Makes cells as narrow as `grain` bytes.
    pub fn refine(&mut self, grain: u32) {
        let times = (self.grain / grain) as usize;
        let mut cells = Vec::with_capacity(self.cells.len() * times);
        for cell in &self.cells {
            for part in 0..times {
                let mut copy = *cell;
                if cell.further_reads != 0 && part > 0 {
                    self.further_reads
                        .push(self.further_reads[cell.further_reads as usize - 1].clone());
                    copy.further_reads = self.further_reads.len() as u32;
                }
                cells.push(copy);
            }
        }
        self.cells = cells;
        self.grain = grain;
    }

    /// Finds what an access races with, without recording it.
    #[inline]
    pub fn conflict(
        &self,
        by: &Observer<'_>,
        cell: u32,
        own: &LaneAccess,
    ) -> Option<EarlierAccess> {
        let cell = &self.cells[cell as usize];
        let unseen = |write: &Write| write.epoch != 0 && !by.seen(write.thread, write.epoch);
        if unseen(&cell.weak) {
            return Some(earlier(&cell.weak));
        }
        if !own.class.is_strong() && unseen(&cell.strong) {
            return Some(earlier(&cell.strong));
        }
        if own.class.kind.writes() {
            let more = self
                .further_reads
                .get((cell.further_reads as usize).wrapping_sub(1))
                .map_or(&[][..], |reads| reads);
            for reads in std::iter::once(&cell.reads).chain(more) {
                if reads.epoch == 0
                    || reads.class.is_strong() && own.class.is_strong()
                    || by.seen_block(reads.first, reads.epoch)
                {
                    continue;
                }
                let mut rest = reads.mask;
                while rest != 0 {
                    let thread = reads.first + rest.trailing_zeros() as Thread;
                    if !by.seen(thread, reads.epoch) {
                        return Some(EarlierAccess {
                            thread,
                            site: reads.site,
                            class: reads.class,
                        });
                    }
                    rest &= rest - 1;
                }
            }
        }
        None
    }

    /// Records an access.
    #[inline]
    pub fn record(&mut self, by: &Observer<'_>, index: u32, own: &LaneAccess) {
        let cell = &mut self.cells[index as usize];
        let epoch = own.epoch;
        // An atomic operation is remembered as a write, which conflicts with all that its read conflicts with.
        if own.class.kind == AccessKind::Read {
            let first = own.thread - own.lane as Thread;
            let new = Reads {
                epoch,
                site: own.site,
                mask: 1 << own.lane,
                first,
                class: own.class,
            };
            let fits = |reads: &Reads| {
                (reads.epoch, reads.first, reads.class.is_strong())
                    == (epoch, first, own.class.is_strong())
            };
            if fits(&cell.reads) {
                cell.reads.mask |= new.mask;
            } else {
                let covered = |reads: &Reads| {
                    reads.epoch == 0
                        || by.seen_block(reads.first, reads.epoch)
                        || (by.may_have_seen(reads.epoch) || reads.first == first)
                            && reads.class.is_strong() >= own.class.is_strong()
                            && lanes(reads).all(|thread| by.seen(thread, reads.epoch))
                };
                if covered(&cell.reads) {
                    cell.reads = new;
                } else {
                    if cell.further_reads == 0 {
                        self.further_reads.push(Vec::new());
                        cell.further_reads = self.further_reads.len() as u32;
                    }
                    let more = &mut self.further_reads[cell.further_reads as usize - 1];
                    // The reads of the warp are most often where they were in the last cell.
                    let hint = self.hint;
                    let found = match more.get(hint) {
                        Some(reads) if fits(reads) => Some(hint),
                        _ => more.iter().position(fits),
                    };
                    if let Some(index) = found {
                        self.hint = index;
                        let reads = &mut more[index];
                        reads.mask |= new.mask;
                    } else {
                        more.retain(|reads| !covered(reads));
                        more.push(new);
                    }
                }
            }
        }
        if own.class.kind.writes() {
            let new = Write {
                epoch,
                site: own.site,
                thread: own.thread,
                class: own.class,
            };
            if own.class.is_strong() {
                cell.strong = new;
            } else {
                cell.weak = new;
            }
        }
    }
}

fn lanes(reads: &Reads) -> impl Iterator<Item = Thread> + use<> {
    let (mask, first) = (reads.mask, reads.first);
    (0..32)
        .filter(move |lane| mask >> lane & 1 != 0)
        .map(move |lane| first + lane)
}

fn earlier(write: &Write) -> EarlierAccess {
    EarlierAccess {
        thread: write.thread,
        site: write.site,
        class: write.class,
    }
}
