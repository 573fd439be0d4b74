//! What the race check of a cluster remembers, and how an access is judged: by stamps, or else by the shadow.

use super::super::access::{Access, AccessClass};
use super::super::clock::Clocks;
use super::super::interval::{Interval, Mode};
use super::super::known::Thread;
use super::super::pattern::{Extent, Pattern, lanes_of};
use super::super::shadow::Shadow;
use super::super::stamps::{KeptThresholds, LAST_EPOCH, LazyThresholds, Stamping, Stamps};

/// What the race check remembers.
#[derive(Debug)]
pub(super) struct Races {
    pub shadow: Shadow,
    pub stamps: Stamps,
    /// One for each block.
    pub intervals: Vec<Interval>,
    /// What stamps need to know of each warp's knowledge.
    pub thresholds: Vec<KeptThresholds>,
    /// Whether stamps are used at all.
    pub is_stamped: bool,
    /// Whether writes are remembered beyond barriers, because the asynchronous proxy may not see them yet.
    pub has_async_proxy: bool,
}

impl Races {
    /// Everything that was done in the memory of a block is ordered before what its threads do from now on.
    /// They are in this epoch or a later one.
    pub fn begin_interval(&mut self, block: usize, stride: u32, epoch: u32) {
        let interval = &mut self.intervals[block];
        interval.clear();
        if epoch <= interval.base || epoch - interval.base > LAST_EPOCH / 2 {
            interval.base = epoch - 1;
            self.stamps.clear(block as u32 * stride, stride);
            let warps = self.thresholds.len() / self.intervals.len();
            self.thresholds[block * warps..][..warps].fill(KeptThresholds::NONE);
        }
        let interval = &mut self.intervals[block];
        interval.mode = if self.is_stamped {
            Mode::Stamped
        } else {
            Mode::Shadowed
        };
    }

    /// Whether an access races with nothing, as far as stamps tell; it is recorded then. Otherwise the shadow is ready for it.
    #[inline]
    pub fn admits(
        &mut self,
        clocks: &Clocks,
        access: &Access<'_>,
        class: AccessClass,
        pattern: Pattern,
        stride: u32,
    ) -> bool {
        let extent = Extent::of(access, pattern);
        self.refine(extent.bits, access.size);
        let first = clocks.thread(access.block, access.warp, 0);
        let start = access.block * stride;
        let is_own =
            extent.lowest >= start && extent.highest.saturating_add(access.size) <= start + stride;
        let warps = self.thresholds.len() / self.intervals.len();
        let is_alone = self.intervals.len() == 1;
        let interval = &mut self.intervals[access.block as usize];
        if interval.mode == Mode::Stamped
            && !interval.has_room()
            && is_alone
            && !self.has_async_proxy
            && let Some(seen) = clocks.seen_by_all(access.block)
        {
            interval.forget(&seen);
        }
        if is_own
            && interval.mode == Mode::Stamped
            && access.size > 0
            && interval.has_room()
            && let Some(view) = clocks.view(access.block, access.warp)
            && view.now > interval.base
            && view.now - interval.base <= LAST_EPOCH
        {
            let floor = view.floor.saturating_sub(interval.base);
            let by = Stamping::new(view.now - interval.base, access.warp, floor);
            let index = access.block as usize * warps + access.warp as usize;
            let mut before = LazyThresholds {
                clocks,
                block: access.block,
                warp: access.warp,
                base: interval.base,
                version: view.version,
                kept: &mut self.thresholds[index],
            };
            if self.stamps.admits(access, class, pattern, by, &mut before) {
                interval.note(access, class, pattern, first, view);
                return true;
            }
        }
        self.prepare_shadow(clocks, access, stride);
        false
    }

    /// Makes cells narrow enough for an access.
    pub fn refine(&mut self, offset: u32, bytes: u32) {
        if let Some(grain) = self.shadow.narrower(offset, bytes) {
            self.shadow.refine(grain);
            self.stamps.refine(grain);
        }
    }

    /// Makes the shadow complete for the blocks that hold these bytes, which a thread accesses.
    pub fn open_shadow(
        &mut self,
        clocks: &Clocks,
        block: u32,
        thread: Thread,
        offset: u32,
        bytes: u32,
        stride: u32,
    ) {
        let last = self.intervals.len() as u32 - 1;
        let end = offset + bytes.max(1) - 1;
        let epoch = clocks.now(thread);
        for home in (offset / stride).min(last)..=(end / stride).min(last) {
            let interval = &mut self.intervals[home as usize];
            interval.enter(clocks, &mut self.shadow);
            interval.mode = Mode::Shadowed;
            if home == block {
                interval.latest = interval.latest.max(epoch);
            } else {
                interval.foreign = interval.foreign.max(epoch + 1);
            }
        }
    }

    /// Makes the shadow complete for the blocks whose memory is accessed.
    #[cold]
    fn prepare_shadow(&mut self, clocks: &Clocks, access: &Access<'_>, stride: u32) {
        for lane in lanes_of(access.mask) {
            let offset = access.offsets[lane as usize];
            let thread = clocks.thread(access.block, access.warp, lane);
            self.open_shadow(clocks, access.block, thread, offset, access.size, stride);
        }
    }
}
