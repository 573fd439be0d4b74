//! The checker of one cluster's shared memory, as the engine sees it.

use warpsmith_isa::effect::{AccessKind, Proxy, Scope};

use super::access::{
    Access, AccessClass, Finding, GlobalSynchronisation, Performer, Site, ThreadAccess, Values,
};
use super::agents::Agents;
use super::clock::Clocks;
use super::interval::Interval;
use super::known::{Agent, NO_AGENT, Thread};
use super::mbarriers::Mbarriers;
use super::pattern::{Pattern, lanes_of};
use super::release::{Location, Releases, Write};
use super::shadow::{EarlierAccess, LaneAccess, Shadow};
use super::stamps::{KeptThresholds, Stamps};
use super::validity::Validity;

mod asynchronous;
mod mbarriers;
mod races;

use races::Races;

/// The checks of a cluster's shared memory; one for each worker, reused from cluster to cluster.
#[derive(Debug)]
pub struct SharedMemory {
    /// Bytes of a block's shared memory, as offsets count them.
    stride: u32,
    clocks: Clocks,
    releases: Releases,
    agents: Agents,
    races: Option<Races>,
    validity: Option<Validity>,
    mbarriers: Option<Mbarriers>,
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
            releases: Releases::default(),
            agents: Agents::new(blocks),
            races: races.then(|| Races {
                shadow: Shadow::new(all),
                stamps: Stamps::new(all),
                intervals: (0..blocks)
                    .map(|block| Interval::new((block * threads) as Thread))
                    .collect(),
                thresholds: vec![KeptThresholds::NONE; (blocks * threads.div_ceil(32)) as usize],
                is_stamped: true,
                has_async_proxy: false,
            }),
            validity: uninitialised.then(|| Validity::new(all)),
            mbarriers: None,
            pending: None,
            due: false,
        }
    }

    /// For a kernel with operations of the asynchronous proxy ([`SharedMemory::issue`]): what threads have written without a
    /// proxy fence is remembered beyond barriers.
    pub fn with_async_proxy(mut self) -> SharedMemory {
        if let Some(races) = &mut self.races {
            races.has_async_proxy = true;
        }
        self
    }

    /// Checks that nothing writes over initialised mbarriers, too.
    pub fn with_mbarriers(mut self) -> SharedMemory {
        self.mbarriers = Some(Mbarriers::new(self.stride * self.clocks.blocks()));
        self
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
        self.releases.start();
        self.agents.start();
        if let Some(races) = &mut self.races {
            if clear {
                races.shadow.clear();
            }
            for block in 0..races.intervals.len() {
                races.intervals[block].foreign = 0;
                races.begin_interval(block, self.stride, self.clocks.clock());
            }
        }
        if let Some(validity) = &mut self.validity {
            validity.clear();
        }
        if let Some(mbarriers) = &mut self.mbarriers {
            mbarriers.start();
        }
    }

    fn thread_access(
        &self,
        thread: Thread,
        agent: Agent,
        site: Site,
        class: AccessClass,
    ) -> ThreadAccess {
        let (block, warp, lane) = self.clocks.position(thread);
        ThreadAccess {
            block,
            thread: warp * 32 + lane,
            site,
            class,
            performer: match agent {
                NO_AGENT => Performer::Thread,
                _ => Performer::Operation,
            },
        }
    }

    /// Checks and records an access, before it is made. A strong access also synchronises, as its order says, with others at
    /// the same offset.
    pub fn access(&mut self, access: &Access<'_>, values: &dyn Values) -> Option<Finding> {
        let class = access.class();
        if self.races.is_none() && self.validity.is_none() {
            return self.check_mbarriers(access, class);
        }
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
        if let Some(found) = self.check_mbarriers(access, class) {
            return Some(found);
        }
        if class.is_strong() {
            let locations = |lane: u32| Location::Shared(access.offsets[lane as usize]);
            self.synchronise((access.block, access.warp, access.mask), locations, class);
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
        let by = self.thread_access(thread, NO_AGENT, access.site, class);
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
            agent: NO_AGENT,
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
                    return Some(self.race(&own, earlier, at, size));
                }
            }
            shadow.record(&by, cell, &own);
        }
        None
    }

    fn race(&self, own: &LaneAccess, earlier: EarlierAccess, at: u32, size: u32) -> Finding {
        Finding::Race {
            access: self.thread_access(own.thread, own.agent, own.site, own.class),
            earlier: self.thread_access(earlier.thread, earlier.agent, earlier.site, earlier.class),
            cause: earlier.cause,
            block: at / self.stride,
            offset: at % self.stride,
            size,
        }
    }

    /// Enters what has been noted of a block's memory in the shadow.
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
        self.clocks.arrive(block, id, warp, mask, waits);
    }

    /// The barrier is complete; call it when the last has arrived, before anybody goes on.
    pub fn complete(&mut self, block: u32, id: u32) {
        let all = self.clocks.all_wait(block, id);
        // Other blocks have not seen what this one has done.
        if all && self.clocks.blocks() > 1 {
            self.enter_notes(block);
        } else if all
            && let Some(races) = &mut self.races
            && races.has_async_proxy
        {
            races.intervals[block as usize].enter_writes(&self.clocks, &mut races.shadow);
        }
        self.clocks.complete(block, id);
        if all
            && let Some(races) = &mut self.races
            && races.intervals[block as usize].foreign == 0
            && self.agents.is_settled(block, &self.clocks)
        {
            races.begin_interval(block as usize, self.stride, self.clocks.clock());
        }
        self.due = true;
    }

    /// Lanes arrive at the cluster's barrier; `releases` unless it is `.relaxed`.
    pub fn cluster_arrive(&mut self, block: u32, warp: u32, mask: u32, releases: bool) {
        self.clocks.cluster_arrive(block, warp, mask, releases);
        if !releases {
            // A fence before it releases what it has made ready.
            for lane in lanes_of(mask) {
                let thread = self.clocks.thread(block, warp, lane);
                if let Some(ready) = self.releases.ready(&self.clocks, thread) {
                    self.clocks.cluster_learn(&ready);
                }
            }
        }
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
                if interval.foreign <= floor
                    && interval.latest < floor
                    && self.agents.is_settled(block as u32, &self.clocks)
                {
                    races.intervals[block].foreign = 0;
                    races.begin_interval(block, self.stride, floor);
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
        self.clocks.warp_sync(block, warp, mask);
    }

    /// Lanes leave the kernel.
    pub fn exit(&mut self, block: u32, mask: u32) {
        self.clocks.exit(block, mask);
    }

    /// A memory fence by lanes of a warp.
    pub fn fence(&mut self, block: u32, warp: u32, mask: u32, scope: Scope) {
        if self.races.is_none() {
            return;
        }
        for lane in lanes_of(mask) {
            let thread = self.clocks.thread(block, warp, lane);
            self.releases.fence(&mut self.clocks, thread, scope);
        }
    }

    /// Strong accesses to global memory: they order accesses to shared memory as their order says. Call it in the order in
    /// which the operations happen.
    pub fn synchronise_globally(&mut self, access: &GlobalSynchronisation<'_>) {
        let class = AccessClass {
            kind: access.kind,
            order: access.order,
            scope: access.scope,
            proxy: Proxy::Generic,
        };
        let locations = |lane: u32| Location::Global(access.addresses[lane as usize]);
        self.synchronise((access.block, access.warp, access.mask), locations, class);
    }

    /// What strong accesses by lanes (block, warp, mask) at these locations order.
    fn synchronise(
        &mut self,
        (block, warp, mask): (u32, u32, u32),
        location: impl Fn(u32) -> Location,
        class: AccessClass,
    ) {
        if self.races.is_none() {
            return;
        }
        let first = location(mask.trailing_zeros() & 31);
        if lanes_of(mask).all(|lane| location(lane) == first)
            && self
                .releases
                .synchronise_warp(&mut self.clocks, (block, warp, mask), first, class)
        {
            return;
        }
        for lane in lanes_of(mask) {
            let thread = self.clocks.thread(block, warp, lane);
            self.synchronise_lane(thread, location(lane), class);
        }
    }

    fn synchronise_lane(&mut self, thread: Thread, location: Location, class: AccessClass) {
        let AccessClass {
            kind, order, scope, ..
        } = class;
        if kind.reads() {
            self.releases
                .observe(&mut self.clocks, thread, location, scope, order.acquires());
        }
        if kind.writes() {
            let write = match kind {
                AccessKind::Atomic => Write::Update,
                AccessKind::Read | AccessKind::Write => Write::Plain,
            };
            self.releases.publish(
                &mut self.clocks,
                thread,
                location,
                scope,
                order.releases(),
                write,
            );
        }
    }
}
