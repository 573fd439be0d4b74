//! Shadow memory: what is remembered of each word, or of each byte once a kernel makes narrower accesses.

use super::clock::{Clocks, Thread};

/// An instruction, numbered by the engine.
pub type Site = u32;

/// A write, or `epoch` 0 for none.
#[derive(Clone, Copy, Debug, Default)]
struct Write {
    epoch: u32,
    site: Site,
    thread: Thread,
}

/// Reads by lanes of one warp in one epoch; `epoch` 0 for none.
#[derive(Clone, Copy, Debug, Default)]
struct Reads {
    epoch: u32,
    site: Site,
    mask: u32,
    /// The thread of the warp's lane 0.
    first: Thread,
    strong: bool,
}

/// What is known of a word or byte.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    weak: Write,
    strong: Write,
    reads: Reads,
    /// Where further reads are, in `Shadow::more`, plus one.
    more: u32,
}

/// The other side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Previous {
    pub thread: Thread,
    pub site: Site,
    pub write: bool,
    pub strong: bool,
}

/// One lane's access to one cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub thread: Thread,
    pub lane: u32,
    pub site: Site,
    pub read: bool,
    pub write: bool,
    pub strong: bool,
}

/// The shadow of a cluster's shared memory.
#[derive(Debug)]
pub(super) struct Shadow {
    bytes: u32,
    /// Bytes that a cell stands for: 4, 2 or 1.
    grain: u32,
    cells: Vec<Cell>,
    more: Vec<Vec<Reads>>,
}

impl Shadow {
    pub fn new(bytes: u32) -> Shadow {
        Shadow {
            bytes,
            grain: 4,
            cells: vec![Cell::default(); bytes.div_ceil(4) as usize],
            more: Vec::new(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.cells.fill(Cell::default());
        self.more.clear();
    }

    /// The cells of an access; makes the cells narrower first if the access asks for it.
    pub fn range(&mut self, offset: u32, size: u32) -> std::ops::Range<u32> {
        let need = if size == 0 {
            4
        } else {
            1 << (offset | size).trailing_zeros().min(2)
        };
        if need < self.grain {
            self.refine(need);
        }
        let end = (offset + size).min(self.bytes);
        offset / self.grain..end.div_ceil(self.grain)
    }

    /// The first byte of a cell.
    pub fn offset(&self, cell: u32) -> u32 {
        cell * self.grain
    }

    fn refine(&mut self, grain: u32) {
        let times = (self.grain / grain) as usize;
        let mut cells = Vec::with_capacity(self.cells.len() * times);
        for cell in &self.cells {
            for part in 0..times {
                let mut copy = *cell;
                if cell.more != 0 && part > 0 {
                    self.more.push(self.more[cell.more as usize - 1].clone());
                    copy.more = self.more.len() as u32;
                }
                cells.push(copy);
            }
        }
        self.cells = cells;
        self.grain = grain;
    }

    /// Finds what an access races with, without recording it.
    #[inline]
    pub fn conflict(&self, clocks: &Clocks, cell: u32, touch: &Touch) -> Option<Previous> {
        let cell = &self.cells[cell as usize];
        let unseen = |write: &Write| {
            write.epoch != 0 && !clocks.seen(touch.thread, write.thread, write.epoch)
        };
        if unseen(&cell.weak) {
            return Some(previous(&cell.weak, false));
        }
        if !touch.strong && unseen(&cell.strong) {
            return Some(previous(&cell.strong, true));
        }
        if touch.write {
            let more = self
                .more
                .get((cell.more as usize).wrapping_sub(1))
                .map_or(&[][..], |reads| reads);
            for reads in std::iter::once(&cell.reads).chain(more) {
                if reads.epoch == 0
                    || reads.strong && touch.strong
                    || clocks.seen_block(touch.thread, reads.first, reads.epoch)
                {
                    continue;
                }
                let mut rest = reads.mask;
                while rest != 0 {
                    let thread = reads.first + rest.trailing_zeros() as Thread;
                    if !clocks.seen(touch.thread, thread, reads.epoch) {
                        return Some(Previous {
                            thread,
                            site: reads.site,
                            write: false,
                            strong: reads.strong,
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
    pub fn record(&mut self, clocks: &Clocks, index: u32, touch: &Touch) {
        let cell = &mut self.cells[index as usize];
        let epoch = clocks.now(touch.thread);
        if touch.read {
            let first = touch.thread - touch.lane as Thread;
            let own = Reads {
                epoch,
                site: touch.site,
                mask: 1 << touch.lane,
                first,
                strong: touch.strong,
            };
            let fits = |reads: &Reads| {
                (reads.epoch, reads.first, reads.strong) == (epoch, first, touch.strong)
            };
            if fits(&cell.reads) {
                cell.reads.mask |= own.mask;
            } else {
                let covered = |reads: &Reads| {
                    reads.epoch == 0
                        || clocks.seen_block(touch.thread, reads.first, reads.epoch)
                        || reads.strong >= touch.strong
                            && lanes(reads)
                                .all(|thread| clocks.seen(touch.thread, thread, reads.epoch))
                };
                if covered(&cell.reads) {
                    cell.reads = own;
                } else {
                    if cell.more == 0 {
                        self.more.push(Vec::new());
                        cell.more = self.more.len() as u32;
                    }
                    let more = &mut self.more[cell.more as usize - 1];
                    if let Some(reads) = more.iter_mut().find(|reads| fits(reads)) {
                        reads.mask |= own.mask;
                    } else {
                        more.retain(|reads| !covered(reads));
                        more.push(own);
                    }
                }
            }
        }
        if touch.write {
            let own = Write {
                epoch,
                site: touch.site,
                thread: touch.thread,
            };
            if touch.strong {
                cell.strong = own;
            } else {
                cell.weak = own;
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

fn previous(write: &Write, strong: bool) -> Previous {
    Previous {
        thread: write.thread,
        site: write.site,
        write: true,
        strong,
    }
}
