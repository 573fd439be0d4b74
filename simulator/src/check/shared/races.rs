//! What the race check of a cluster remembers, and how an access is judged: by stamps, or else by the shadow.

use warpsmith_isa::effect::AccessKind;

use super::super::access::{Access, AccessClass, Values};
use super::super::cells::DenseCells;
use super::super::finding::Finding;
use super::super::happens_before::HappensBefore;
use super::super::in_flight::InFlight;
use super::super::interval::{Interval, Mode};
use super::super::known::{ClusterThread, Number};
use super::super::pattern::{Extent, Pattern, lanes_of};
use super::super::shadow::{Cell, EarlierAccess, LaneAccess, Shadow};
use super::super::stamps::{KeptThresholds, LAST_EPOCH, LazyThresholds, Stamping, Stamps};
use super::super::topology::Topology;

/// What the race check remembers.
#[derive(Debug)]
pub(super) struct Races {
    pub order: HappensBefore<ClusterThread>,
    pub shadow: Shadow<ClusterThread, DenseCells<Cell<ClusterThread>>>,
    pub in_flight: InFlight,
    stamps: Stamps,
    /// Bytes of a block's shared memory, as offsets count them.
    pub stride: u32,
    /// One for each block.
    intervals: Vec<Interval>,
    /// What stamps need to know of each warp's knowledge.
    thresholds: Vec<KeptThresholds>,
    /// Whether stamps are used at all.
    pub is_stamped: bool,
    /// Whether writes are remembered beyond barriers, because the asynchronous proxy may not see them yet.
    pub has_async_proxy: bool,
}

impl Races {
    /// Of a cluster whose blocks have so many bytes each.
    pub fn new(topology: Topology, stride: u32) -> Races {
        let (blocks, threads) = (topology.blocks(), topology.block_threads());
        let bytes = stride * blocks;
        let first = |block: u32| ClusterThread::new((block * threads) as usize);
        Races {
            order: HappensBefore::new(topology),
            shadow: Shadow::new(DenseCells::new(bytes, Cell::UNTOUCHED)),
            in_flight: InFlight::new(bytes),
            stamps: Stamps::new(bytes),
            stride,
            intervals: (0..blocks)
                .map(|block| Interval::new(first(block)))
                .collect(),
            thresholds: vec![KeptThresholds::NONE; (blocks * threads.div_ceil(32)) as usize],
            is_stamped: true,
            has_async_proxy: false,
        }
    }

    /// A cluster starts.
    pub fn start(&mut self) {
        if self.order.start() {
            self.shadow.clear();
        }
        self.in_flight.start();
        for block in 0..self.intervals.len() {
            self.intervals[block].foreign = 0;
            self.begin_interval(block, self.order.clocks.clock());
        }
    }

    /// Everything that was done in the memory of a block is ordered before what its threads do from now on.
    /// They are in this epoch or a later one.
    fn begin_interval(&mut self, block: usize, epoch: u32) {
        let interval = &mut self.intervals[block];
        interval.clear();
        if epoch <= interval.base || epoch - interval.base > LAST_EPOCH / 2 {
            interval.base = epoch - 1;
            self.stamps.clear(block as u32 * self.stride, self.stride);
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
    pub fn admits(&mut self, access: &Access<'_>, class: AccessClass, pattern: Pattern) -> bool {
        let extent = Extent::of(access, pattern);
        self.refine(extent.bits, access.size);
        let (clocks, stride) = (&self.order.clocks, self.stride);
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
        self.prepare_shadow(access);
        false
    }

    /// Makes cells narrow enough for an access. Of the offset, only how far it is aligned matters.
    #[inline]
    pub fn refine(&mut self, offset: u32, bytes: u32) {
        if let Some(grain) = self.shadow.narrower(offset, bytes) {
            self.shadow.narrow(offset, bytes);
            self.stamps.refine(grain);
        }
    }

    /// Makes the shadow complete for the blocks that hold these bytes, which a thread accesses.
    pub fn open_shadow(&mut self, block: u32, thread: ClusterThread, offset: u32, bytes: u32) {
        let last = self.intervals.len() as u32 - 1;
        let end = offset + bytes.max(1) - 1;
        let epoch = self.order.clocks.now(thread);
        for home in (offset / self.stride).min(last)..=(end / self.stride).min(last) {
            let interval = &mut self.intervals[home as usize];
            interval.enter(&mut self.shadow);
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
    fn prepare_shadow(&mut self, access: &Access<'_>) {
        let clocks = &self.order.clocks;
        let is_uniform = clocks.view(access.block, access.warp).is_some();
        let mut opened = None;
        for lane in lanes_of(access.mask) {
            let offset = access.offsets[lane as usize];
            // Most often lanes of one epoch access the memory of one block.
            let is_open = |start: u32| {
                offset.wrapping_sub(start) < self.stride
                    && offset - start + access.size <= self.stride
            };
            if is_uniform && opened.is_some_and(is_open) {
                continue;
            }
            let thread = self.order.clocks.thread(access.block, access.warp, lane);
            self.open_shadow(access.block, thread, offset, access.size);
            opened = Some(offset / self.stride * self.stride);
        }
    }

    /// Checks a lane by the shadow.
    pub fn check_lane(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        lane: u32,
        values: &dyn Values,
    ) -> Option<Finding> {
        let (offset, size) = (access.offsets[lane as usize], access.size);
        let clocks = &self.order.clocks;
        let by = (access.block, access.warp, lane);
        let own = self.order.lane_access(by, access.site, class);
        let is_harmless = |earlier: &EarlierAccess<ClusterThread>| {
            // Lanes of one instruction may write the same bytes (see `collision`), and the other's value is not in memory yet.
            let (block, warp, other) = clocks.position(earlier.thread);
            let together = earlier.site == access.site
                && (block, warp) == (access.block, access.warp)
                && access.mask >> other & 1 != 0
                && access.offsets[other as usize].abs_diff(offset) < size;
            earlier.class.kind.writes()
                && class.kind == AccessKind::Write
                && !class.is_strong()
                && if together {
                    values.equal(lane as usize, other as usize).is_some()
                } else {
                    values.unchanged(lane as usize)
                }
        };
        let found = self.shadow.check(clocks, &own, (offset, size), is_harmless);
        found.map(|(earlier, at)| self.race(&own, &earlier, at.max(offset), size))
    }

    /// The finding of a race at a byte, by an access of `size` bytes.
    pub fn race(
        &self,
        own: &LaneAccess<ClusterThread>,
        earlier: &EarlierAccess<ClusterThread>,
        at: u32,
        size: u32,
    ) -> Finding {
        Finding::Race {
            access: self.order.name(own),
            earlier: self.order.name_earlier(earlier),
            cause: earlier.cause,
            block: at / self.stride,
            offset: at % self.stride,
            size,
        }
    }

    /// Whether other blocks have accessed a block's memory since all of them were ordered.
    pub fn has_foreign(&self, block: u32) -> bool {
        self.intervals[block as usize].foreign != 0
    }

    /// Enters what has been noted of a block's memory in the shadow.
    fn enter_notes(&mut self, block: u32) {
        self.intervals[block as usize].enter(&mut self.shadow);
    }

    /// A barrier of a block is complete.
    pub fn complete(&mut self, block: u32, id: u32) {
        let all = self.order.clocks.all_wait(block, id);
        // Other blocks have not seen what this one has done.
        if all && self.intervals.len() > 1 {
            self.enter_notes(block);
        } else if all && self.has_async_proxy {
            let interval = &mut self.intervals[block as usize];
            interval.enter_writes(&mut self.shadow);
        }
        let HappensBefore { clocks, agents, .. } = &mut self.order;
        clocks.complete(block, id);
        if all && self.intervals[block as usize].foreign == 0 && agents.is_settled(block, clocks) {
            let epoch = clocks.clock();
            self.begin_interval(block as usize, epoch);
        }
    }

    /// The cluster's barrier is complete.
    pub fn cluster_complete(&mut self) {
        for block in 0..self.intervals.len() {
            self.enter_notes(block as u32);
        }
        let floor = self.order.clocks.cluster_complete();
        for block in 0..self.intervals.len() {
            let interval = &self.intervals[block];
            let HappensBefore { clocks, agents, .. } = &mut self.order;
            if interval.foreign <= floor
                && interval.latest < floor
                && agents.is_settled(block as u32, clocks)
            {
                self.intervals[block].foreign = 0;
                self.begin_interval(block, floor);
            }
        }
    }
}
