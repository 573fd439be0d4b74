//! What the race check of a cluster remembers, and how an access is judged: by stamps, or else by the shadow.

use super::super::access::{Access, AccessClass};
use super::super::clock::{Clocks, Thread};
use super::super::interval::{Interval, Mode};
use super::super::pattern::{Extent, Pattern, lanes_of};
use super::super::shadow::Shadow;
use super::super::stamps::Stamps;

/// What the race check remembers.
#[derive(Debug)]
pub(super) struct Races {
    pub shadow: Shadow,
    pub stamps: Stamps,
    /// One for each block.
    pub intervals: Vec<Interval>,
    /// Whether stamps are used at all.
    pub is_stamped: bool,
    /// Whether writes are remembered beyond barriers, because the asynchronous proxy may not see them yet.
    pub has_async_proxy: bool,
}

impl Races {
    /// Everything that was done in the memory of a block is ordered before what its threads do from now on.
    pub fn begin_interval(&mut self, block: usize, stride: u32) {
        let interval = &mut self.intervals[block];
        interval.clear();
        interval.number = self
            .stamps
            .next_interval(interval.number, block as u32 * stride, stride);
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
        let interval = &mut self.intervals[access.block as usize];
        if is_own
            && interval.mode == Mode::Stamped
            && access.size > 0
            && interval.has_room()
            && let Some(epoch) = clocks.warp_now(access.block, access.warp)
            && self
                .stamps
                .admits(access, class, pattern, interval.number, first)
        {
            interval.note(access, class, pattern, first, epoch);
            return true;
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
