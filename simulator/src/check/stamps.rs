//! The fast path of the race check: who has touched each cell lately, one thread, one warp or several.
//!
//! A cell has two stamps, of its weak writer and of its readers: the epoch in the upper bits, the warp and the lane in the lower.
//! An access is admitted if all that the stamps of its cells say is ordered before it, or read where it reads: then it races
//! with nothing. What is ordered before the accesses of a warp is a number for each warp of its block: the epoch below which
//! all that the lanes of that warp did is ordered ([`Thresholds`]). Most often the least of them decides already, the epoch of
//! the block's last barrier, and that is one vector comparison for all lanes. Nothing is cleared at a barrier, since stamps
//! are outdated by their epochs. Whatever is not that simple (threads of one warp that know different things, other blocks,
//! asynchronous operations) is left to `shadow`.

use super::access::{Access, AccessClass};
use super::clock::Clocks;
use super::known::ClusterThread;
use super::pattern::{Pattern, RUN_LANES, RunPattern};

/// `epoch << 12 | warp << 6 | lane`, or one of the numbers below in place of the warp or the lane. The epoch counts from the
/// base of the block ([`super::interval::Interval::base`]); 0 for nobody.
type Stamp = u32;

/// In place of a lane: several lanes of the warp.
const LANES: u32 = 32;
/// In place of a reader's warp: several.
const SEVERAL: u32 = 32 << 6;
/// In place of a writer's warp: strong accesses, by any threads.
const STRONG: u32 = 33 << 6;
/// Where the epoch begins.
const EPOCH_SHIFT: u32 = 12;
/// The bits of warp and lane.
const WHO: u32 = (1 << EPOCH_SHIFT) - 1;
/// The bits of the warp.
const WARP: u32 = 63 << 6;
/// The last epoch that a stamp can hold.
pub(super) const LAST_EPOCH: u32 = (1 << (32 - EPOCH_SHIFT)) - 1;

/// What is ordered before the accesses of a warp whose lanes know the same: by warp of the block (or one of the numbers in place
/// of one), the stamps below which all are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    by_warp: [Stamp; 64],
}

impl Thresholds {
    /// From epochs, counted like those of stamps: of all threads of the block, then of each warp.
    fn new(mut epochs: impl Iterator<Item = u32>) -> Thresholds {
        let mut by_warp = [threshold(epochs.next().unwrap_or(0)); 64];
        let mut least = u32::MAX;
        for (kept, epoch) in by_warp.iter_mut().zip(epochs) {
            *kept = threshold(epoch);
            least = least.min(*kept);
        }
        by_warp[(SEVERAL >> 6) as usize] = least;
        Thresholds { by_warp }
    }

    /// Whether what a stamp says is ordered before.
    #[inline(always)]
    fn is_before(&self, stamp: Stamp) -> bool {
        stamp < self.by_warp[(stamp >> 6 & 63) as usize]
    }
}

/// The thresholds of a warp, computed when they are first asked for and kept as long as its lanes learn nothing.
pub(super) struct LazyThresholds<'a> {
    pub clocks: &'a Clocks<ClusterThread>,
    pub block: u32,
    pub warp: u32,
    /// The base of the block's stamps.
    pub base: u32,
    /// The state of the warp's knowledge.
    pub version: u32,
    pub kept: &'a mut KeptThresholds,
}

/// Thresholds, of this state of a warp's knowledge.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptThresholds {
    version: u32,
    thresholds: Thresholds,
}

impl KeptThresholds {
    /// Of no state.
    pub const NONE: KeptThresholds = KeptThresholds {
        version: 0,
        thresholds: Thresholds { by_warp: [0; 64] },
    };
}

impl LazyThresholds<'_> {
    #[inline]
    fn get(&mut self) -> &Thresholds {
        if self.kept.version != self.version {
            self.kept.version = self.version;
            self.kept.thresholds = self.compute();
        }
        &self.kept.thresholds
    }

    #[cold]
    fn compute(&self) -> Thresholds {
        let base = self.base;
        let epochs = self.clocks.known_of_warps(self.block, self.warp);
        Thresholds::new(epochs.map(|epoch| epoch.saturating_sub(base)))
    }
}

/// The stamp below which those of lower epochs are.
fn threshold(epoch: u32) -> Stamp {
    // Nobody's stamp is below all thresholds.
    (epoch.min(LAST_EPOCH) << EPOCH_SHIFT).max(1)
}

/// Who makes an access, and what is ordered before it for sure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamping {
    /// The stamp of lane 0.
    own: Stamp,
    /// The threshold of all threads of the block.
    floor: Stamp,
}

impl Stamping {
    /// By a warp in this epoch; everything below `floor` is ordered before.
    pub fn new(epoch: u32, warp: u32, floor: u32) -> Stamping {
        Stamping {
            own: epoch << EPOCH_SHIFT | warp << 6,
            floor: threshold(floor),
        }
    }

    /// For a later lane.
    #[inline(always)]
    fn lane(self, lane: u32) -> Stamping {
        Stamping {
            own: self.own + lane,
            ..self
        }
    }

    #[inline(always)]
    fn is_own(self, stamp: Stamp) -> bool {
        (stamp ^ self.own) & WHO == 0
    }

    #[inline(always)]
    fn is_own_warp(self, stamp: Stamp) -> bool {
        (stamp ^ self.own) & WARP == 0
    }

    /// The stamp of several of these lanes.
    #[inline(always)]
    fn lanes(self) -> Stamp {
        self.own & !63 | LANES
    }

    /// The stamp of others together with these lanes; the epoch is the later one.
    #[inline(always)]
    fn together(self, other: Stamp, who: u32) -> Stamp {
        self.own.max(other) & !WHO | who
    }

    /// Whether it takes thresholds to tell that a stamp is ordered before.
    #[inline(always)]
    fn is_recent(self, stamp: Stamp) -> bool {
        stamp >= self.floor
    }
}

/// What an access does to the stamps of a cell, and when it may race.
trait Rule {
    /// Whether the access may race, as far as can be told without thresholds. `SAME`: several lanes make it.
    fn is_unclear<const SAME: bool>(writer: Stamp, reader: Stamp, by: Stamping) -> bool;
    /// Whether it may race.
    fn conflicts<const SAME: bool>(
        writer: Stamp,
        reader: Stamp,
        by: Stamping,
        before: &Thresholds,
    ) -> bool;
    /// The access is made.
    fn stamp<const SAME: bool>(writer: &mut Stamp, reader: &mut Stamp, by: Stamping);
}

struct WeakRead;

impl Rule for WeakRead {
    #[inline(always)]
    fn is_unclear<const SAME: bool>(writer: Stamp, _: Stamp, by: Stamping) -> bool {
        by.is_recent(writer) & (SAME | !by.is_own(writer))
    }

    #[inline(always)]
    fn conflicts<const SAME: bool>(
        writer: Stamp,
        _: Stamp,
        by: Stamping,
        before: &Thresholds,
    ) -> bool {
        !before.is_before(writer) & (SAME | !by.is_own(writer))
    }

    #[inline(always)]
    fn stamp<const SAME: bool>(_: &mut Stamp, reader: &mut Stamp, by: Stamping) {
        let alone = if SAME { by.lanes() } else { by.own };
        *reader = if !by.is_recent(*reader) | !SAME & by.is_own(*reader) {
            alone
        } else if by.is_own_warp(*reader) {
            by.lanes()
        } else {
            by.together(*reader, SEVERAL)
        };
    }
}

struct WeakWrite;

impl Rule for WeakWrite {
    #[inline(always)]
    fn is_unclear<const SAME: bool>(writer: Stamp, reader: Stamp, by: Stamping) -> bool {
        SAME | by.is_recent(writer) & !by.is_own(writer) | by.is_recent(reader) & !by.is_own(reader)
    }

    #[inline(always)]
    fn conflicts<const SAME: bool>(
        writer: Stamp,
        reader: Stamp,
        by: Stamping,
        before: &Thresholds,
    ) -> bool {
        SAME | !before.is_before(writer) & !by.is_own(writer)
            | !before.is_before(reader) & !by.is_own(reader)
    }

    #[inline(always)]
    fn stamp<const SAME: bool>(writer: &mut Stamp, _: &mut Stamp, by: Stamping) {
        *writer = by.own;
    }
}

/// Strong accesses do not race with each other, so who made them does not matter as long as nobody makes weak ones. A weak write
/// that only some threads have seen must not be forgotten behind them.
struct StrongAccess;

impl StrongAccess {
    #[inline(always)]
    fn is_weak(writer: Stamp, by: Stamping) -> bool {
        by.is_recent(writer) & (writer & WARP != STRONG)
    }
}

impl Rule for StrongAccess {
    #[inline(always)]
    fn is_unclear<const SAME: bool>(writer: Stamp, reader: Stamp, by: Stamping) -> bool {
        StrongAccess::is_weak(writer, by) | by.is_recent(reader) & (SAME | !by.is_own(reader))
    }

    #[inline(always)]
    fn conflicts<const SAME: bool>(
        writer: Stamp,
        reader: Stamp,
        by: Stamping,
        before: &Thresholds,
    ) -> bool {
        StrongAccess::is_weak(writer, by) | !before.is_before(reader) & (SAME | !by.is_own(reader))
    }

    #[inline(always)]
    fn stamp<const SAME: bool>(writer: &mut Stamp, _: &mut Stamp, by: Stamping) {
        *writer = by.together(*writer, STRONG);
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

    /// Forgets what is in the memory of a block: `bytes` from `start`.
    pub fn clear(&mut self, start: u32, bytes: u32) {
        let first = (start >> self.grain_shift) as usize;
        let end = ((start + bytes) >> self.grain_shift) as usize;
        for stamps in [&mut self.writers, &mut self.readers] {
            let end = end.min(stamps.len());
            stamps[first..end].fill(0);
        }
    }

    /// Whether the access races with nothing that the stamps know of; it is stamped then. Where the answer is no, stamps may be
    /// wrong until the interval ends.
    #[inline]
    pub fn admits(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        pattern: Pattern,
        by: Stamping,
        thresholds: &mut LazyThresholds<'_>,
    ) -> bool {
        match (class.is_strong(), class.kind.writes()) {
            (true, _) => self.pass::<StrongAccess>(access, pattern, by, thresholds),
            (false, true) => self.pass::<WeakWrite>(access, pattern, by, thresholds),
            (false, false) => self.pass::<WeakRead>(access, pattern, by, thresholds),
        }
    }

    #[inline]
    fn pass<R: Rule>(
        &mut self,
        access: &Access<'_>,
        pattern: Pattern,
        by: Stamping,
        before: &mut LazyThresholds<'_>,
    ) -> bool {
        let cells = (access.size >> self.grain_shift) as usize;
        let first = access.offsets[0];
        match (cells, pattern) {
            (_, Pattern::Same) => self.cells::<R, 0, true>(first, cells, by, before),
            (1, Pattern::Consecutive) => self.cells::<R, 1, false>(first, 32, by, before),
            (2, Pattern::Consecutive) => self.cells::<R, 2, false>(first, 64, by, before),
            (4, Pattern::Consecutive) => self.cells::<R, 4, false>(first, 128, by, before),
            (1, Pattern::Runs(runs)) => runs.into_iter().enumerate().all(|(run, pattern)| {
                let lane = run * RUN_LANES;
                let (offset, by) = (access.offsets[lane], by.lane(lane as u32));
                match pattern {
                    RunPattern::Consecutive => {
                        self.cells::<R, 1, false>(offset, RUN_LANES, by, before)
                    }
                    RunPattern::Same => self.cells::<R, 0, true>(offset, 1, by, before),
                }
            }),
            _ => {
                let mut rest = access.mask;
                while rest != 0 {
                    let lane = rest.trailing_zeros();
                    rest &= rest - 1;
                    let offset = access.offsets[lane as usize];
                    if !self.cells::<R, 0, false>(offset, cells, by.lane(lane), before) {
                        return false;
                    }
                }
                true
            }
        }
    }

    /// `count` cells from an offset: of lanes one after the other, `EACH` cells each, or all of one lane (0), or of several (0 and
    /// `SAME`). No if they are not all there.
    #[inline(always)]
    fn cells<R: Rule, const EACH: usize, const SAME: bool>(
        &mut self,
        offset: u32,
        count: usize,
        by: Stamping,
        before: &mut LazyThresholds<'_>,
    ) -> bool {
        let first = (offset >> self.grain_shift) as usize;
        let (Some(writers), Some(readers)) = (
            self.writers.get_mut(first..first + count),
            self.readers.get_mut(first..first + count),
        ) else {
            return false;
        };
        let by_lane = |index: usize| match EACH {
            0 => by,
            _ => by.lane((index / EACH) as u32),
        };
        let mut is_unclear = false;
        for (index, (writer, reader)) in writers.iter().zip(readers.iter()).enumerate() {
            is_unclear |= R::is_unclear::<SAME>(*writer, *reader, by_lane(index));
        }
        if is_unclear {
            let before = before.get();
            let stamps = writers.iter().zip(readers.iter());
            if stamps.enumerate().any(|(index, (writer, reader))| {
                R::conflicts::<SAME>(*writer, *reader, by_lane(index), before)
            }) {
                return false;
            }
        }
        for (index, (writer, reader)) in writers.iter_mut().zip(readers).enumerate() {
            R::stamp::<SAME>(writer, reader, by_lane(index));
        }
        true
    }
}
