//! The checker of one cluster's shared memory, as the engine sees it.

use warpsmith_isa::effect::{AccessKind, Order};

use super::access::{
    Access, AccessClass, Finding, GlobalSynchronisation, Site, ThreadAccess, Values,
};
use super::clock::{Clocks, Location, Thread};
use super::interval::{Interval, Mode};
use super::pattern::{Extent, Pattern};
use super::shadow::{LaneAccess, Shadow};
use super::stamps::Stamps;
use super::validity::Validity;

/// What the race check remembers.
#[derive(Debug)]
struct Races {
    shadow: Shadow,
    stamps: Stamps,
    /// One for each block.
    intervals: Vec<Interval>,
    /// Whether stamps are used at all.
    is_stamped: bool,
}

/// The checks of a cluster's shared memory; one for each worker, reused from cluster to cluster.
#[derive(Debug)]
pub struct SharedMemory {
    /// Bytes of a block's shared memory, as offsets count them.
    stride: u32,
    clocks: Clocks,
    races: Option<Races>,
    validity: Option<Validity>,
    /// A read of uninitialised bytes, held back: if the bytes are written before the next barrier, it was a race.
    pending: Option<Finding>,
    /// That barrier has been.
    due: bool,
}

impl SharedMemory {
    /// For clusters of `blocks` blocks of `threads` threads, each with `bytes` of shared memory.
    pub fn new(
        blocks: u32,
        threads: u32,
        bytes: u32,
        races: bool,
        uninitialised: bool,
    ) -> SharedMemory {
        let all = bytes * blocks;
        SharedMemory {
            stride: bytes.max(1),
            clocks: Clocks::new(blocks, threads),
            races: races.then(|| Races {
                shadow: Shadow::new(all),
                stamps: Stamps::new(all),
                intervals: (0..blocks).map(|_| Interval::new()).collect(),
                is_stamped: true,
            }),
            validity: uninitialised.then(|| Validity::new(all)),
            pending: None,
            due: false,
        }
    }

    /// Checks every access by the shadow alone, to compare.
    #[cfg(test)]
    pub(super) fn without_stamps(mut self) -> SharedMemory {
        if let Some(races) = &mut self.races {
            races.is_stamped = false;
        }
        self
    }

    /// A cluster starts.
    pub fn start(&mut self) {
        (self.pending, self.due) = (None, false);
        let clear = self.clocks.start();
        if let Some(races) = &mut self.races {
            if clear {
                races.shadow.clear();
            }
            for block in 0..races.intervals.len() {
                races.intervals[block].foreign = 0;
                races.begin_interval(block, self.stride);
            }
        }
        if let Some(validity) = &mut self.validity {
            validity.clear();
        }
    }

    fn thread_access(&self, thread: Thread, site: Site, class: AccessClass) -> ThreadAccess {
        let (block, warp, lane) = self.clocks.position(thread);
        ThreadAccess {
            block,
            thread: warp * 32 + lane,
            site,
            class,
        }
    }

    /// Checks and records an access, before it is made. A strong access also synchronises, as its order says, with others at
    /// the same offset.
    pub fn access(&mut self, access: &Access<'_>, values: &dyn Values) -> Option<Finding> {
        let class = access.class();
        let pattern = Pattern::of(access);
        let is_valid = match &mut self.validity {
            Some(validity) => {
                let is_valid = !class.kind.reads() || validity.covers(access, pattern);
                if is_valid && class.kind.writes() {
                    validity.initialise_all(access, pattern);
                }
                is_valid
            }
            None => true,
        };
        let is_free = match &mut self.races {
            Some(races) => races.admits(&self.clocks, access, class, pattern, self.stride),
            None => true,
        };
        if !(is_valid && is_free) {
            let found = self.lane_by_lane(access, class, is_valid, is_free, values);
            if found.is_some() {
                return found;
            }
        }
        if class.is_strong() {
            if class.order.acquires() || class.order.releases() {
                self.enter_notes(access.block);
            }
            for lane in lanes_of(access.mask) {
                let thread = self.clocks.thread(access.block, access.warp, lane);
                let location = Location::Shared(access.offsets[lane as usize]);
                self.synchronise(thread, location, class.kind, class.order);
            }
        }
        None
    }

    #[inline(never)]
    fn lane_by_lane(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        is_valid: bool,
        is_free: bool,
        values: &dyn Values,
    ) -> Option<Finding> {
        lanes_of(access.mask).find_map(|lane| {
            let found = if is_valid {
                None
            } else {
                self.validate_lane(access, class, lane)
            };
            found.or_else(|| {
                if is_free {
                    return None;
                }
                self.check_lane(access, class, lane, values)
            })
        })
    }

    /// Checks that a lane reads initialised bytes. If races are looked for, a finding is held back.
    fn validate_lane(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        lane: u32,
    ) -> Option<Finding> {
        let (offset, size) = (access.offsets[lane as usize], access.size);
        let thread = self.clocks.thread(access.block, access.warp, lane);
        let by = self.thread_access(thread, access.site, class);
        let validity = self.validity.as_mut()?;
        if class.kind.reads()
            && let Some(at) = validity.first_uninitialised(offset, size)
        {
            let finding = Finding::Uninitialised {
                access: by,
                block: at / self.stride,
                offset: at % self.stride,
                size,
            };
            if self.races.is_none() {
                return Some(finding);
            }
            self.pending.get_or_insert(finding);
        }
        if class.kind.writes() {
            validity.initialise(offset, size);
        }
        None
    }

    /// Checks a lane by the shadow.
    fn check_lane(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        lane: u32,
        values: &dyn Values,
    ) -> Option<Finding> {
        let (offset, size) = (access.offsets[lane as usize], access.size);
        let thread = self.clocks.thread(access.block, access.warp, lane);
        let shadow = &mut self.races.as_mut()?.shadow;
        let own = LaneAccess {
            thread,
            lane,
            site: access.site,
            class,
            epoch: self.clocks.now(thread),
        };
        let by = self.clocks.observer(thread);
        for cell in shadow.range(offset, size) {
            if let Some(earlier) = shadow.conflict(&by, cell, &own) {
                // If the same instruction has just written here in another lane, that value is not in memory yet.
                let (block, warp, other) = self.clocks.position(earlier.thread);
                let together = earlier.site == access.site
                    && (block, warp) == (access.block, access.warp)
                    && access.mask >> other & 1 != 0
                    && access.offsets[other as usize].abs_diff(offset) < size;
                let harmless = earlier.class.kind.writes()
                    && class.kind == AccessKind::Write
                    && !class.is_strong()
                    && if together {
                        values.equal(lane as usize, other as usize)
                    } else {
                        values.unchanged(lane as usize)
                    };
                if !harmless {
                    let at = shadow.offset(cell).max(offset);
                    return Some(Finding::Race {
                        access: self.thread_access(thread, access.site, class),
                        earlier: self.thread_access(earlier.thread, earlier.site, earlier.class),
                        block: at / self.stride,
                        offset: at % self.stride,
                        size,
                    });
                }
            }
            shadow.record(&by, cell, &own);
        }
        None
    }

    /// Call it before what the threads of a block know of each other changes.
    fn enter_notes(&mut self, block: u32) {
        if let Some(races) = &mut self.races {
            races.intervals[block as usize].enter(&self.clocks, &mut races.shadow);
        }
    }

    /// Marks bytes as initialised without checking them: by the asynchronous copies of the hardware, or an initialiser.
    pub fn assume_initialised(&mut self, offset: u32, size: u32) {
        if let Some(validity) = &mut self.validity {
            for at in (0..size).step_by(32) {
                validity.initialise(offset + at, (size - at).min(32));
            }
        }
    }

    /// Lanes arrive at a barrier of their block (0 to 15); with `waits` unless it is `bar.arrive`.
    pub fn arrive(&mut self, block: u32, id: u32, warp: u32, mask: u32, waits: bool) {
        // All lanes together move to an epoch in which they do nothing until the barrier is complete.
        if !(waits && self.clocks.is_uniform(block, warp, mask)) {
            self.enter_notes(block);
        }
        self.clocks.arrive(block, id, warp, mask, waits);
    }

    /// The barrier is complete; call it when the last has arrived, before anybody goes on.
    pub fn complete(&mut self, block: u32, id: u32) {
        let all = self.clocks.all_wait(block, id);
        // Other blocks have not seen what this one has done.
        if !all || self.clocks.blocks() > 1 {
            self.enter_notes(block);
        }
        self.clocks.complete(block, id);
        if all
            && let Some(races) = &mut self.races
            && races.intervals[block as usize].foreign == 0
        {
            races.begin_interval(block as usize, self.stride);
        }
        self.due = true;
    }

    /// Lanes arrive at the cluster's barrier; `releases` unless it is `.relaxed`.
    pub fn cluster_arrive(&mut self, block: u32, warp: u32, mask: u32, releases: bool) {
        self.enter_notes(block);
        self.clocks.cluster_arrive(block, warp, mask, releases);
    }

    /// The cluster's barrier is complete.
    pub fn cluster_complete(&mut self) {
        for block in 0..self.clocks.blocks() {
            self.enter_notes(block);
        }
        let floor = self.clocks.cluster_complete();
        if let Some(races) = &mut self.races {
            for block in 0..races.intervals.len() {
                let interval = &races.intervals[block];
                if interval.foreign <= floor && interval.latest < floor {
                    races.intervals[block].foreign = 0;
                    races.begin_interval(block, self.stride);
                }
            }
        }
        self.due = true;
    }

    /// A read of uninitialised bytes that was held back to see whether it is one side of a race: once a barrier has passed
    /// without, or at the latest when the cluster has `ended` or failed otherwise.
    pub fn overdue(&mut self, ended: bool) -> Option<Finding> {
        let due = std::mem::take(&mut self.due);
        if due || ended {
            self.pending.take()
        } else {
            None
        }
    }

    /// `bar.warp.sync`, when all lanes have come.
    pub fn warp_sync(&mut self, block: u32, warp: u32, mask: u32) {
        if !self.clocks.is_uniform(block, warp, mask) {
            self.enter_notes(block);
        }
        self.clocks.warp_sync(block, warp, mask);
    }

    /// Lanes leave the kernel.
    pub fn exit(&mut self, block: u32, mask: u32) {
        self.clocks.exit(block, mask);
    }

    /// A memory fence, of whatever kind, by one lane.
    pub fn fence(&mut self, block: u32, warp: u32, lane: u32) {
        self.enter_notes(block);
        let thread = self.clocks.thread(block, warp, lane);
        self.clocks.fence(thread);
    }

    /// Strong accesses to global memory: they order accesses to shared memory as their order says. Call it in the order in
    /// which the operations happen.
    pub fn synchronise_globally(&mut self, access: &GlobalSynchronisation<'_>) {
        if access.order.acquires() || access.order.releases() {
            self.enter_notes(access.block);
        }
        for lane in lanes_of(access.mask) {
            let thread = self.clocks.thread(access.block, access.warp, lane);
            let location = Location::Global(access.addresses[lane as usize]);
            self.synchronise(thread, location, access.kind, access.order);
        }
    }

    fn synchronise(&mut self, thread: Thread, location: Location, kind: AccessKind, order: Order) {
        if kind.reads() {
            self.clocks.observe(thread, location, order.acquires());
        }
        if kind.writes() {
            let updates = kind == AccessKind::Atomic;
            self.clocks
                .publish(thread, location, order.releases(), updates);
        }
    }
}

impl Races {
    /// Everything that was done in the memory of a block is ordered before what its threads do from now on.
    fn begin_interval(&mut self, block: usize, stride: u32) {
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
    fn admits(
        &mut self,
        clocks: &Clocks,
        access: &Access<'_>,
        class: AccessClass,
        pattern: Pattern,
        stride: u32,
    ) -> bool {
        let extent = Extent::of(access, pattern);
        if let Some(grain) = self.shadow.narrower(extent.bits, access.size) {
            self.shadow.refine(grain);
            self.stamps.refine(grain);
        }
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

    /// Makes the shadow complete for the blocks whose memory is accessed.
    #[cold]
    fn prepare_shadow(&mut self, clocks: &Clocks, access: &Access<'_>, stride: u32) {
        let last = self.intervals.len() as u32 - 1;
        for lane in lanes_of(access.mask) {
            let offset = access.offsets[lane as usize];
            let end = offset + access.size.max(1) - 1;
            for block in (offset / stride).min(last)..=(end / stride).min(last) {
                let interval = &mut self.intervals[block as usize];
                interval.enter(clocks, &mut self.shadow);
                interval.mode = Mode::Shadowed;
                let epoch = clocks.now(clocks.thread(access.block, access.warp, lane));
                if block == access.block {
                    interval.latest = interval.latest.max(epoch);
                } else {
                    interval.foreign = interval.foreign.max(epoch + 1);
                }
            }
        }
    }
}

fn lanes_of(mask: u32) -> impl Iterator<Item = u32> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}
