//! The fast path of the race check: who has touched each cell since the block's last barrier, one thread or several.
//!
//! A cell has two stamps, of its weak writer and of its readers: the number of the interval between two barriers in the upper
//! half, the thread in the lower. An access whose cells were touched in this interval by nobody or by the same thread only, or
//! that reads where others read, races with nothing; one loop over both arrays finds that out for all lanes. Stamps of
//! earlier intervals are stale by their number, so nothing is cleared at a barrier. Whatever is not that simple is left to
//! `shadow`.

use super::access::{Access, AccessClass};
use super::pattern::{Pattern, RUN_LANES, RunPattern};

/// `interval << 16 | thread`, or one of the numbers below in place of the thread.
type Stamp = u32;

/// In place of a reader: several threads.
const SEVERAL: Stamp = 0xffff;
/// In place of a writer: strong accesses, by any threads.
const STRONG: Stamp = 0xfffe;
/// The last number of an interval.
const LAST_INTERVAL: u32 = 0xffff;

/// Whether a stamp is of this interval, by somebody else than `own`.
#[inline(always)]
fn is_foreign(stamp: Stamp, own: Stamp) -> bool {
    (stamp ^ own).wrapping_sub(1) < 0xffff
}

/// Whether a stamp is of the interval of `own`.
#[inline(always)]
fn is_current(stamp: Stamp, own: Stamp) -> bool {
    stamp ^ own < 0x1_0000
}

/// What an access does to the stamps of a cell, and when it may race. `conflict` where it may; the stamps do not matter then.
trait Rule {
    /// By one thread.
    fn one(writer: &mut Stamp, reader: &mut Stamp, own: Stamp) -> bool;
    /// By several threads, of which `own` is one.
    fn several(writer: &mut Stamp, reader: &mut Stamp, own: Stamp) -> bool;
}

fn instead(own: Stamp, thread: Stamp) -> Stamp {
    own & !0xffff | thread
}

struct WeakRead;

impl Rule for WeakRead {
    #[inline(always)]
    fn one(writer: &mut Stamp, reader: &mut Stamp, own: Stamp) -> bool {
        *reader = if is_foreign(*reader, own) {
            instead(own, SEVERAL)
        } else {
            own
        };
        is_foreign(*writer, own)
    }

    #[inline(always)]
    fn several(writer: &mut Stamp, reader: &mut Stamp, own: Stamp) -> bool {
        *reader = instead(own, SEVERAL);
        is_current(*writer, own)
    }
}

struct WeakWrite;

impl Rule for WeakWrite {
    #[inline(always)]
    fn one(writer: &mut Stamp, reader: &mut Stamp, own: Stamp) -> bool {
        let conflict = is_foreign(*writer, own) | is_foreign(*reader, own);
        *writer = own;
        conflict
    }

    #[inline(always)]
    fn several(_: &mut Stamp, _: &mut Stamp, _: Stamp) -> bool {
        true
    }
}

/// Strong accesses do not race with each other, so who made them does not matter as long as nobody makes weak ones.
struct StrongAccess;

impl Rule for StrongAccess {
    #[inline(always)]
    fn one(writer: &mut Stamp, reader: &mut Stamp, own: Stamp) -> bool {
        let strong = instead(own, STRONG);
        let conflict = is_current(*writer, own) & (*writer != strong) | is_foreign(*reader, own);
        *writer = strong;
        conflict
    }

    #[inline(always)]
    fn several(writer: &mut Stamp, reader: &mut Stamp, own: Stamp) -> bool {
        let strong = instead(own, STRONG);
        let conflict = is_current(*writer, own) & (*writer != strong) | is_current(*reader, own);
        *writer = strong;
        conflict
    }
}

/// The stamps of a cluster's shared memory.
#[derive(Debug)]
pub(super) struct Stamps {
    /// Bytes of a cell, as a power of two.
    grain_shift: u32,
    writers: Vec<Stamp>,
    readers: Vec<Stamp>,
}

impl Stamps {
    /// For memory of `bytes` bytes in cells of 4.
    pub fn new(bytes: u32) -> Stamps {
        let cells = bytes.div_ceil(4) as usize;
        Stamps {
            grain_shift: 2,
            writers: vec![0; cells],
            readers: vec![0; cells],
        }
    }

    /// Makes the cells as narrow as `grain` bytes.
    pub fn refine(&mut self, grain: u32) {
        let shift = grain.trailing_zeros();
        let times = 1 << (self.grain_shift - shift);
        for stamps in [&mut self.writers, &mut self.readers] {
            let repeated = |&stamp: &Stamp| std::iter::repeat_n(stamp, times);
            *stamps = stamps.iter().flat_map(repeated).collect();
        }
        self.grain_shift = shift;
    }

    /// The number of the interval after this one, in the memory of a block: `bytes` from `start`.
    pub fn next_interval(&mut self, interval: u32, start: u32, bytes: u32) -> u32 {
        if interval < LAST_INTERVAL {
            return interval + 1;
        }
        let first = (start >> self.grain_shift) as usize;
        let end = ((start + bytes) >> self.grain_shift) as usize;
        for stamps in [&mut self.writers, &mut self.readers] {
            let end = end.min(stamps.len());
            stamps[first..end].fill(0);
        }
        1
    }

    /// Whether the access races with nothing that was done in this interval, as far as that is quickly told; it is stamped
    /// then. `first` is the thread of lane 0. Where the answer is no, stamps may be wrong until the interval ends.
    #[inline]
    pub fn admits(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        pattern: Pattern,
        interval: u32,
        first: u16,
    ) -> bool {
        let own = interval << 16 | u32::from(first);
        match (class.is_strong(), class.kind.writes()) {
            (true, _) => self.pass::<StrongAccess>(access, pattern, own),
            (false, true) => self.pass::<WeakWrite>(access, pattern, own),
            (false, false) => self.pass::<WeakRead>(access, pattern, own),
        }
    }

    #[inline]
    fn pass<R: Rule>(&mut self, access: &Access<'_>, pattern: Pattern, own: Stamp) -> bool {
        let cells = (access.size >> self.grain_shift) as usize;
        let conflict = match (cells, pattern) {
            (_, Pattern::Same) => self.same::<R>(access.offsets[0], cells, own),
            (1, Pattern::Consecutive) => self.run::<R, 1>(access.offsets[0], 32, own),
            (2, Pattern::Consecutive) => self.run::<R, 2>(access.offsets[0], 32, own),
            (4, Pattern::Consecutive) => self.run::<R, 4>(access.offsets[0], 32, own),
            (1, Pattern::Runs(runs)) => {
                let mut conflict = false;
                for (run, pattern) in runs.into_iter().enumerate() {
                    let lane = run * RUN_LANES;
                    let (offset, own) = (access.offsets[lane], own + lane as u32);
                    conflict |= match pattern {
                        RunPattern::Consecutive => self.run::<R, 1>(offset, RUN_LANES, own),
                        RunPattern::Same => self.same::<R>(offset, 1, own),
                    };
                }
                conflict
            }
            _ => {
                let (mut conflict, mut rest) = (false, access.mask);
                while rest != 0 {
                    let lane = rest.trailing_zeros();
                    rest &= rest - 1;
                    conflict |= self.lane::<R>(access.offsets[lane as usize], cells, own + lane);
                }
                conflict
            }
        };
        !conflict
    }

    /// The stamps of `count` cells from an offset; none if they are not all there.
    #[inline(always)]
    fn cells(&mut self, offset: u32, count: usize) -> Option<(&mut [Stamp], &mut [Stamp])> {
        let first = (offset >> self.grain_shift) as usize;
        Some((
            self.writers.get_mut(first..first + count)?,
            self.readers.get_mut(first..first + count)?,
        ))
    }

    /// Lanes one after the other, `CELLS` each.
    #[inline(always)]
    fn run<R: Rule, const CELLS: usize>(&mut self, offset: u32, lanes: usize, own: Stamp) -> bool {
        let Some((writers, readers)) = self.cells(offset, lanes * CELLS) else {
            return true;
        };
        let mut conflict = false;
        for (index, (writer, reader)) in writers.iter_mut().zip(readers).enumerate() {
            conflict |= R::one(writer, reader, own + (index / CELLS) as u32);
        }
        conflict
    }

    /// Several lanes at one offset.
    #[inline(always)]
    fn same<R: Rule>(&mut self, offset: u32, cells: usize, own: Stamp) -> bool {
        let Some((writers, readers)) = self.cells(offset, cells) else {
            return true;
        };
        let mut conflict = false;
        for (writer, reader) in writers.iter_mut().zip(readers) {
            conflict |= R::several(writer, reader, own);
        }
        conflict
    }

    /// One lane.
    #[inline(always)]
    fn lane<R: Rule>(&mut self, offset: u32, cells: usize, own: Stamp) -> bool {
        let Some((writers, readers)) = self.cells(offset, cells) else {
            return true;
        };
        let mut conflict = false;
        for (writer, reader) in writers.iter_mut().zip(readers) {
            conflict |= R::one(writer, reader, own);
        }
        conflict
    }
}
