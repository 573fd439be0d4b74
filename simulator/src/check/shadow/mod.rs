//! Shadow memory: what is remembered of each word, or of each byte once a kernel makes narrower accesses.

use std::ops::ControlFlow;

use warpsmith_isa::effect::{AccessKind, Proxy};

use super::access::{ProxyFence, RaceCause};
use super::cells::{Cells, DenseCells};
use super::clock::{Clocks, Observer};
use super::known::Number;

mod access;
mod cell;

pub(super) use access::{EarlierAccess, LaneAccess};
pub(super) use cell::{Cell, Reads};
use cell::{Write, tolerance};

/// The shadow of a memory.
#[derive(Debug)]
pub(super) struct Shadow<T, S> {
    cells: S,
    further: FurtherReads<T>,
}

/// The reads of cells that do not fit into them.
#[derive(Debug)]
struct FurtherReads<T> {
    lists: Vec<Vec<Reads<T>>>,
    /// Where in such a list the last reads were found.
    hint: usize,
}

impl<T: Number> Shadow<T, DenseCells<Cell<T>>> {
    /// The width of cells that an access asks for, if they are to be made narrower. Of the offset, only how far it is aligned matters.
    #[inline]
    pub fn narrower(&self, offset: u32, bytes: u32) -> Option<u32> {
        self.cells.narrower(offset, bytes)
    }
}

impl<T: Number, S: Cells<Cell<T>>> Shadow<T, S> {
    /// Of memory with these untouched cells.
    pub fn new(cells: S) -> Shadow<T, S> {
        Shadow {
            cells,
            further: FurtherReads {
                lists: Vec::new(),
                hint: 0,
            },
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.further.lists.clear();
    }

    /// Makes the cells of an access narrow enough for it.
    pub fn narrow(&mut self, address: S::Address, bytes: u32) {
        let further = &mut self.further;
        self.cells.narrow(address, bytes, |cell| further.copy(cell));
    }

    /// Checks an access by a lane, whose cells are narrow enough, and records it. Gives what it races with, and the first byte that both
    /// touch or the cell's, unless that is harmless; then the rest is not recorded.
    #[inline]
    pub fn check(
        &mut self,
        clocks: &Clocks<T>,
        own: &LaneAccess<T>,
        (address, bytes): (S::Address, u32),
        is_harmless: impl Fn(&EarlierAccess<T>) -> bool,
    ) -> Option<(EarlierAccess<T>, S::Address)> {
        let by = clocks.observer(own.thread);
        let further = &mut self.further;
        let flow = self.cells.visit(address, bytes, |at, cell| {
            if let Some(earlier) = further.conflict(cell, &by, own)
                && !is_harmless(&earlier)
            {
                return ControlFlow::Break((earlier, at));
            }
            further.record(cell, own, |reads| reads.is_covered(&by, own));
            ControlFlow::Continue(())
        });
        flow.break_value()
    }

    /// Records an access that races with nothing; `is_covered` says which reads can be forgotten once it is remembered.
    #[inline]
    pub fn record(
        &mut self,
        own: &LaneAccess<T>,
        (address, bytes): (S::Address, u32),
        is_covered: impl Fn(&Reads<T>) -> bool,
    ) {
        let further = &mut self.further;
        let _: ControlFlow<()> = self.cells.visit(address, bytes, |_, cell| {
            further.record(cell, own, &is_covered);
            ControlFlow::Continue(())
        });
    }

    /// Finds an access by another block that no thread of a block has seen, and its cell's first byte.
    #[cold]
    pub fn unseen_by_block(
        &mut self,
        clocks: &Clocks<T>,
        block: u32,
        (address, bytes): (S::Address, u32),
    ) -> Option<(EarlierAccess<T>, S::Address)> {
        let threads = clocks.threads_of(block).map(T::new);
        let observers: Vec<Observer<'_, T>> = threads.map(|t| clocks.observer(t)).collect();
        let is_foreign = |thread: T| clocks.position(thread).0 != block;
        let further = &self.further;
        let flow = self.cells.visit(address, bytes, |at, cell| {
            for write in [&cell.weak, &cell.strong] {
                if write.epoch != 0
                    && is_foreign(write.thread)
                    && !observers.iter().any(|by| write.is_seen(by))
                {
                    let earlier = write.earlier(RaceCause::Unordered);
                    return ControlFlow::Break((earlier, at));
                }
            }
            for reads in std::iter::once(&cell.reads).chain(further.of(cell)) {
                if reads.epoch != 0
                    && is_foreign(reads.first)
                    && let Some(thread) = reads.unseen_by_all(&observers)
                {
                    let earlier = EarlierAccess {
                        thread,
                        agent: reads.agent,
                        site: reads.site,
                        class: reads.class,
                        cause: RaceCause::Unordered,
                    };
                    return ControlFlow::Break((earlier, at));
                }
            }
            ControlFlow::Continue(())
        });
        flow.break_value()
    }

    /// Finds whether an asynchronous operation may use the mbarrier at an address, by its own path. Its cells are narrow enough.
    pub fn mbarrier_conflict(
        &mut self,
        clocks: &Clocks<T>,
        own: &LaneAccess<T>,
        (address, bytes): (S::Address, u32),
    ) -> Option<EarlierAccess<T>> {
        let by = clocks.observer(own.thread);
        let flow = self.cells.visit(address, bytes, |_, cell| {
            let made = &cell.weak;
            let is_fenced = made.epoch == 0
                || own.class.proxy != Proxy::Async
                || made.class.proxy == Proxy::Async
                || by.has_seen_fence(made.thread, made.epoch, ProxyFence::MbarrierInit);
            let cause = match (made.is_seen(&by), is_fenced) {
                (false, _) => RaceCause::Unordered,
                (true, false) => RaceCause::Proxy,
                (true, true) => return ControlFlow::Continue(()),
            };
            ControlFlow::Break(made.earlier(cause))
        });
        flow.break_value()
    }
}

impl<T: Number> FurtherReads<T> {
    /// The reads of a cell that are not in it.
    #[inline]
    fn of(&self, cell: &Cell<T>) -> &[Reads<T>] {
        self.lists
            .get((cell.further_reads as usize).wrapping_sub(1))
            .map_or(&[][..], |reads| reads)
    }

    /// A cell that remembers the same.
    fn copy(&mut self, cell: &Cell<T>) -> Cell<T> {
        let mut copy = *cell;
        if cell.further_reads != 0 {
            self.lists.push(self.of(cell).to_vec());
            copy.further_reads = self.lists.len() as u32;
        }
        copy
    }

    /// Finds what an access races with, without recording it.
    #[inline]
    fn conflict(
        &self,
        cell: &Cell<T>,
        by: &Observer<'_, T>,
        own: &LaneAccess<T>,
    ) -> Option<EarlierAccess<T>> {
        if let Some(cause) = cell.weak.obstacle(by, own) {
            return Some(cell.weak.earlier(cause));
        }
        if !own.may_meet(by, cell.strong.class, cell.strong.thread)
            && let Some(cause) = cell.strong.obstacle(by, own)
        {
            let cause = match cause {
                RaceCause::Unordered => own.cause(cell.strong.class),
                cause => cause,
            };
            return Some(cell.strong.earlier(cause));
        }
        if own.class.kind.writes() {
            for reads in std::iter::once(&cell.reads).chain(self.of(cell)) {
                if reads.epoch == 0
                    || own.may_meet(by, reads.class, reads.first)
                    || reads.is_quickly_seen(by)
                {
                    continue;
                }
                if let Some(thread) = reads.unseen(by) {
                    return Some(EarlierAccess {
                        thread,
                        agent: reads.agent,
                        site: reads.site,
                        class: reads.class,
                        cause: own.cause(reads.class),
                    });
                }
            }
        }
        None
    }

    /// Records an access; `is_covered` says which reads can be forgotten once it is remembered.
    #[inline]
    fn record(
        &mut self,
        cell: &mut Cell<T>,
        own: &LaneAccess<T>,
        is_covered: impl Fn(&Reads<T>) -> bool,
    ) {
        let epoch = own.epoch;
        // An atomic operation is remembered as a write, which conflicts with all that its read conflicts with.
        if own.class.kind == AccessKind::Read {
            let first = own.first();
            let new = Reads {
                epoch,
                site: own.site,
                mask: 1 << own.lane,
                first,
                agent: own.agent,
                class: own.class,
            };
            let fits = |reads: &Reads<T>| {
                (reads.epoch, reads.site, reads.first, tolerance(reads.class))
                    == (epoch, own.site, first, tolerance(own.class))
            };
            if fits(&cell.reads) {
                cell.reads.mask |= new.mask;
            } else if is_covered(&cell.reads) {
                cell.reads = new;
            } else {
                if cell.further_reads == 0 {
                    self.lists.push(Vec::new());
                    cell.further_reads = self.lists.len() as u32;
                }
                let more = &mut self.lists[cell.further_reads as usize - 1];
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
                    more.retain(|reads| !is_covered(reads));
                    more.push(new);
                }
            }
        }
        if own.class.kind.writes() {
            let new = Write {
                epoch,
                site: own.site,
                thread: own.thread,
                agent: own.agent,
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
