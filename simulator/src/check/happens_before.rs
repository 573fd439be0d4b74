//! What is ordered before what: the clocks of threads, what releases publish, and what is known of asynchronous operations.
//!
//! It knows no memory: a checker of accesses asks it ([`Clocks::observer`]) and tells it what synchronises.

use warpsmith_isa::effect::{AccessKind, Scope};

use super::access::{
    AccessClass, AsyncAccess, AsyncCompletion, AsyncTicket, Performer, ProxyFence, Site,
    ThreadAccess,
};
use super::agents::Agents;
use super::clock::Clocks;
use super::known::{Known, Number};
use super::pattern::lanes_of;
use super::release::{Location, Releases, Write};
use super::shadow::{EarlierAccess, LaneAccess};
use super::topology::Topology;

/// The order of what threads do, numbered by `T`.
#[derive(Debug)]
pub(super) struct HappensBefore<T> {
    pub clocks: Clocks<T>,
    pub releases: Releases<T>,
    pub agents: Agents<T>,
}

impl<T: Number> HappensBefore<T> {
    /// Of these threads.
    pub fn new(topology: Topology) -> HappensBefore<T> {
        HappensBefore {
            agents: Agents::new(topology.blocks()),
            clocks: Clocks::new(topology),
            releases: Releases::new(),
        }
    }

    /// All threads start. True if what is remembered of earlier accesses must be cleared.
    pub fn start(&mut self) -> bool {
        self.releases.start();
        self.agents.start();
        self.clocks.start()
    }

    /// An access that a lane makes now.
    #[inline]
    pub fn lane_access(
        &self,
        (block, warp, lane): (u32, u32, u32),
        site: Site,
        class: AccessClass,
    ) -> LaneAccess<T> {
        let thread = self.clocks.thread(block, warp, lane);
        LaneAccess {
            thread,
            lane,
            agent: T::NO_AGENT,
            site,
            class,
            epoch: self.clocks.now(thread),
        }
    }

    /// An access as findings name it.
    pub fn name(&self, access: &LaneAccess<T>) -> ThreadAccess {
        self.named(access.thread, access.agent, access.site, access.class)
    }

    /// An earlier access as findings name it.
    pub fn name_earlier(&self, access: &EarlierAccess<T>) -> ThreadAccess {
        self.named(access.thread, access.agent, access.site, access.class)
    }

    fn named(&self, thread: T, agent: T, site: Site, class: AccessClass) -> ThreadAccess {
        let (block, warp, lane) = self.clocks.position(thread);
        ThreadAccess {
            block,
            thread: warp * 32 + lane,
            site,
            class,
            performer: if agent == T::NO_AGENT {
                Performer::Thread
            } else {
                Performer::Operation
            },
        }
    }

    /// A thread starts an asynchronous operation. Gives its access, too.
    pub fn begin(&mut self, operation: &AsyncAccess) -> (AsyncTicket, LaneAccess<T>) {
        let AsyncAccess {
            block, warp, lane, ..
        } = *operation;
        let epoch = self.clocks.fresh();
        let access = self.lane_access((block, warp, lane), operation.site, operation.class());
        let first = access.thread.minus(lane);
        let ticket = self
            .agents
            .begin(access.thread, first, operation.completion, epoch);
        let agent = T::new(ticket.agent as usize);
        let access = LaneAccess {
            agent,
            epoch,
            ..access
        };
        (ticket, access)
    }

    /// An asynchronous operation has been checked, and is under way.
    pub fn publish_start(&mut self, operation: &AsyncAccess) {
        if let AsyncCompletion::Mbarrier { offset } = operation.completion {
            let AsyncAccess {
                block, warp, lane, ..
            } = *operation;
            let thread = self.clocks.thread(block, warp, lane);
            let location = Location::Shared(offset);
            self.releases
                .start_operation(&mut self.clocks, thread, location);
        }
    }

    /// An asynchronous operation is done. If an mbarrier counts it, threads that acquire there from now on have seen it.
    pub fn finish(&mut self, operation: &AsyncAccess, ticket: AsyncTicket) {
        let done = self.agents.end(ticket);
        if let AsyncCompletion::Mbarrier { offset } = operation.completion {
            let agent = T::new(ticket.agent as usize);
            self.releases
                .count(&self.clocks, Location::Shared(offset), agent, done);
        }
    }

    /// Copies that threads have started for themselves are done, and the mbarrier at this offset counts them: threads
    /// that acquire there from now on have heard of it.
    pub fn count_copies(&mut self, mbarrier: u32) -> AsyncTicket {
        let epoch = self.clocks.fresh();
        let ticket = self.agents.begin_counted(mbarrier, epoch);
        let done = self.agents.end(ticket);
        let agent = T::new(ticket.agent as usize);
        let location = Location::Shared(mbarrier);
        self.releases.count(&self.clocks, location, agent, done);
        ticket
    }

    /// Lanes have waited for an operation and all that were issued before it in the same way.
    pub fn wait(&mut self, block: u32, warp: u32, mask: u32, ticket: AsyncTicket) {
        let mut known = Known::default();
        known.learn_done(T::new(ticket.agent as usize), ticket.epoch + 1);
        self.clocks.learn_all(block, warp, mask, &known);
    }

    /// A fence between proxies, by lanes of a warp.
    pub fn proxy_fence(&mut self, block: u32, warp: u32, mask: u32, fence: ProxyFence) {
        self.clocks.proxy_fence(block, warp, mask, fence);
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

    /// A memory fence by lanes of a warp.
    pub fn fence(&mut self, block: u32, warp: u32, mask: u32, scope: Scope) {
        for lane in lanes_of(mask) {
            let thread = self.clocks.thread(block, warp, lane);
            self.releases.fence(&mut self.clocks, thread, scope);
        }
    }

    /// What strong accesses by lanes (block, warp, mask) at these locations order. Call it in the order in which the operations
    /// happen.
    pub fn synchronise(
        &mut self,
        (block, warp, mask): (u32, u32, u32),
        location: impl Fn(u32) -> Location,
        class: AccessClass,
    ) {
        if self.releases.is_empty() && !class.order.releases() {
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

    fn synchronise_lane(&mut self, thread: T, location: Location, class: AccessClass) {
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
