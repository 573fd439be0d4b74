//! The checker of one cluster's shared memory, as the engine sees it.

use warpsmith_isa::effect::{AccessKind, Order};

use super::access::{
    Access, AccessClass, Finding, GlobalSynchronisation, Site, ThreadAccess, Values,
};
use super::clock::{Clocks, Location, Thread};
use super::shadow::{LaneAccess, Shadow};
use super::validity::Validity;

/// The checks of a cluster's shared memory; one for each worker, reused from cluster to cluster.
#[derive(Debug)]
pub struct SharedMemory {
    /// Bytes of a block's shared memory, as offsets count them.
    stride: u32,
    clocks: Clocks,
    shadow: Option<Shadow>,
    valid: Option<Validity>,
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
            shadow: races.then(|| Shadow::new(all)),
            valid: uninitialised.then(|| Validity::new(all)),
            pending: None,
            due: false,
        }
    }

    /// A cluster starts.
    pub fn start(&mut self) {
        (self.pending, self.due) = (None, false);
        let clear = self.clocks.start();
        if let Some(shadow) = &mut self.shadow
            && clear
        {
            shadow.clear();
        }
        if let Some(valid) = &mut self.valid {
            valid.clear();
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
        for lane in lanes_of(access.mask) {
            let found = self.lane(access, class, lane, values);
            if found.is_some() {
                return found;
            }
        }
        if class.is_strong() {
            for lane in lanes_of(access.mask) {
                let thread = self.clocks.thread(access.block, access.warp, lane);
                let location = Location::Shared(access.offsets[lane as usize]);
                self.synchronise(thread, location, class.kind, class.order);
            }
        }
        None
    }

    #[inline]
    fn lane(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        lane: u32,
        values: &dyn Values,
    ) -> Option<Finding> {
        let (offset, size) = (access.offsets[lane as usize], access.size);
        let thread = self.clocks.thread(access.block, access.warp, lane);
        if let Some(valid) = &self.valid {
            if class.kind.reads()
                && let Some(at) = valid.first_uninitialised(offset, size)
            {
                let finding = Finding::Uninitialised {
                    access: self.thread_access(thread, access.site, class),
                    block: at / self.stride,
                    offset: at % self.stride,
                    size,
                };
                if self.shadow.is_none() {
                    return Some(finding);
                }
                self.pending.get_or_insert(finding);
            }
            if class.kind.writes()
                && let Some(valid) = &mut self.valid
            {
                valid.initialise(offset, size);
            }
        }
        let shadow = self.shadow.as_mut()?;
        let own = LaneAccess {
            thread,
            lane,
            site: access.site,
            class,
        };
        for cell in shadow.range(offset, size) {
            if let Some(earlier) = shadow.conflict(&self.clocks, cell, &own) {
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
            shadow.record(&self.clocks, cell, &own);
        }
        None
    }

    /// Marks bytes as initialised without checking them: by the asynchronous copies of the hardware, or an initialiser.
    pub fn assume_initialised(&mut self, offset: u32, size: u32) {
        if let Some(valid) = &mut self.valid {
            for at in (0..size).step_by(32) {
                valid.initialise(offset + at, (size - at).min(32));
            }
        }
    }

    /// Lanes arrive at a barrier of their block (0 to 15); with `waits` unless it is `bar.arrive`.
    pub fn arrive(&mut self, block: u32, id: u32, warp: u32, mask: u32, waits: bool) {
        self.clocks.arrive(block, id, warp, mask, waits);
    }

    /// The barrier is complete; call it when the last has arrived, before anybody goes on.
    pub fn complete(&mut self, block: u32, id: u32) {
        self.clocks.complete(block, id);
        self.due = true;
    }

    /// Lanes arrive at the cluster's barrier; `releases` unless it is `.relaxed`.
    pub fn cluster_arrive(&mut self, block: u32, warp: u32, mask: u32, releases: bool) {
        self.clocks.cluster_arrive(block, warp, mask, releases);
    }

    /// The cluster's barrier is complete.
    pub fn cluster_complete(&mut self) {
        self.clocks.cluster_complete();
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
        self.clocks.warp_sync(block, warp, mask);
    }

    /// Lanes leave the kernel.
    pub fn exit(&mut self, block: u32, mask: u32) {
        self.clocks.exit(block, mask);
    }

    /// A memory fence, of whatever kind, by one lane.
    pub fn fence(&mut self, block: u32, warp: u32, lane: u32) {
        let thread = self.clocks.thread(block, warp, lane);
        self.clocks.fence(thread);
    }

    /// Strong accesses to global memory: they order accesses to shared memory as their order says. Call it in the order in
    /// which the operations happen.
    pub fn synchronise_globally(&mut self, access: &GlobalSynchronisation<'_>) {
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

fn lanes_of(mask: u32) -> impl Iterator<Item = u32> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}
