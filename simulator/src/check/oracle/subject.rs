//! The checkers that are compared with the model: that of a cluster's shared memory, and the same algorithm over the memories of
//! several devices.

use warpsmith_isa::effect::Scope;

use super::super::cells::PagedCells;
use super::super::happens_before::HappensBefore;
use super::super::pattern::lanes_of;
use super::super::release::Location;
use super::super::shadow::{Cell, Shadow};
use super::super::topology::Topology;
use super::super::{
    Access, AccessClass, AsyncAccess, AsyncTicket, Finding, GlobalSynchronisation, ProxyFence,
    SharedMemory,
};
use super::world::{Lanes, THREADS, WARPS, World};

/// What is told of a program; `home` is the number of a memory.
pub trait Subject {
    fn access(&mut self, home: u32, access: &Access<'_>) -> Option<Finding>;
    fn issue(&mut self, home: u32, operation: &AsyncAccess) -> Result<AsyncTicket, Finding>;
    fn finish(&mut self, operation: &AsyncAccess, ticket: AsyncTicket);
    fn wait(&mut self, by: Lanes, ticket: AsyncTicket);
    fn arrive(&mut self, by: Lanes, id: u32, waits: bool);
    fn complete(&mut self, block: u32, id: u32);
    fn arrive_at_all(&mut self, by: Lanes);
    fn complete_all(&mut self);
    fn warp_sync(&mut self, by: Lanes);
    fn fence(&mut self, by: Lanes, scope: Scope);
    fn proxy_fence(&mut self, by: Lanes, fence: ProxyFence);
    fn flag(&mut self, by: Lanes, class: AccessClass, location: u64);
    /// Lanes find that the phase of an mbarrier is over.
    fn test(&mut self, access: &Access<'_>);
}

/// The checker of a cluster.
pub fn cluster(world: &World) -> SharedMemory {
    let (blocks, threads) = (world.blocks(), THREADS as u32);
    let mut shared =
        SharedMemory::new(blocks, threads, 2048 / blocks, true, false).with_async_proxy();
    shared.start();
    shared
}

impl Subject for SharedMemory {
    fn access(&mut self, _: u32, access: &Access<'_>) -> Option<Finding> {
        SharedMemory::access(self, access, &())
    }

    fn issue(&mut self, _: u32, operation: &AsyncAccess) -> Result<AsyncTicket, Finding> {
        SharedMemory::issue(self, operation)
    }

    fn finish(&mut self, operation: &AsyncAccess, ticket: AsyncTicket) {
        SharedMemory::finish(self, operation, ticket);
    }

    fn wait(&mut self, by: Lanes, ticket: AsyncTicket) {
        SharedMemory::wait(self, by.block, by.warp, by.mask, ticket);
    }

    fn arrive(&mut self, by: Lanes, id: u32, waits: bool) {
        SharedMemory::arrive(self, by.block, id, by.warp, by.mask, waits);
    }

    fn complete(&mut self, block: u32, id: u32) {
        SharedMemory::complete(self, block, id);
    }

    fn arrive_at_all(&mut self, by: Lanes) {
        self.cluster_arrive(by.block, by.warp, by.mask, true);
    }

    fn complete_all(&mut self) {
        self.cluster_complete();
    }

    fn warp_sync(&mut self, by: Lanes) {
        SharedMemory::warp_sync(self, by.block, by.warp, by.mask);
    }

    fn fence(&mut self, by: Lanes, scope: Scope) {
        SharedMemory::fence(self, by.block, by.warp, by.mask, scope);
    }

    fn proxy_fence(&mut self, by: Lanes, fence: ProxyFence) {
        SharedMemory::proxy_fence(self, by.block, by.warp, by.mask, fence);
    }

    fn flag(&mut self, by: Lanes, class: AccessClass, location: u64) {
        self.synchronise_globally(&GlobalSynchronisation {
            block: by.block,
            warp: by.warp,
            mask: by.mask,
            addresses: &[location; 32],
            kind: class.kind,
            order: class.order,
            scope: class.scope,
        });
    }

    fn test(&mut self, access: &Access<'_>) {
        assert_eq!(SharedMemory::access(self, access, &()), None);
    }
}

/// Where the memories begin: each so that programs use several pages.
const BASES: [u64; 2] = [0x7e00_0000_0000 - 256, 0x7f12_3456_7000 - 64];

/// Threads that are numbered through all devices, and cells for the pages that are touched.
pub struct Devices {
    order: HappensBefore<u32>,
    shadow: Shadow<u32, PagedCells<Cell<u32>>>,
}

impl Devices {
    pub fn new(world: &World) -> Devices {
        let topology = Topology::devices(&world.clusters, world.blocks, 32 * WARPS);
        let mut order = HappensBefore::new(topology);
        order.start();
        Devices {
            order,
            shadow: Shadow::new(PagedCells::new(Cell::UNTOUCHED)),
        }
    }
}

impl Subject for Devices {
    fn access(&mut self, home: u32, access: &Access<'_>) -> Option<Finding> {
        let class = access.class();
        for lane in lanes_of(access.mask) {
            let offset = access.offsets[lane as usize];
            let at = BASES[home as usize] + u64::from(offset);
            let by = (access.block, access.warp, lane);
            let own = self.order.lane_access(by, access.site, class);
            self.shadow.narrow(at, access.size);
            let clocks = &self.order.clocks;
            let found = self
                .shadow
                .check(clocks, &own, (at, access.size), |_| false);
            if let Some((earlier, _)) = found {
                return Some(Finding::Race {
                    access: self.order.name(&own),
                    earlier: self.order.name_earlier(&earlier),
                    cause: earlier.cause,
                    block: home,
                    offset,
                    size: access.size,
                });
            }
        }
        if class.is_strong() {
            let base = BASES[home as usize];
            let location =
                |lane: u32| Location::Global(base + u64::from(access.offsets[lane as usize]));
            let by = (access.block, access.warp, access.mask);
            self.order.synchronise(by, location, class);
        }
        None
    }

    fn issue(&mut self, home: u32, operation: &AsyncAccess) -> Result<AsyncTicket, Finding> {
        let range = (
            BASES[home as usize] + u64::from(operation.offset),
            operation.bytes,
        );
        let (ticket, own) = self.order.begin(operation);
        self.shadow.narrow(range.0, range.1);
        let clocks = &self.order.clocks;
        if let Some((earlier, _)) = self.shadow.check(clocks, &own, range, |_| false) {
            return Err(Finding::Race {
                access: self.order.name(&own),
                earlier: self.order.name_earlier(&earlier),
                cause: earlier.cause,
                block: home,
                offset: operation.offset,
                size: operation.bytes,
            });
        }
        self.order.publish_start(operation);
        Ok(ticket)
    }

    fn finish(&mut self, operation: &AsyncAccess, ticket: AsyncTicket) {
        self.order.finish(operation, ticket);
    }

    fn wait(&mut self, by: Lanes, ticket: AsyncTicket) {
        self.order.wait(by.block, by.warp, by.mask, ticket);
    }

    fn arrive(&mut self, by: Lanes, id: u32, waits: bool) {
        let clocks = &mut self.order.clocks;
        clocks.arrive(by.block, id, by.warp, by.mask, waits);
    }

    fn complete(&mut self, block: u32, id: u32) {
        self.order.clocks.complete(block, id);
    }

    fn arrive_at_all(&mut self, by: Lanes) {
        self.order.cluster_arrive(by.block, by.warp, by.mask, true);
    }

    fn complete_all(&mut self) {
        self.order.clocks.cluster_complete();
    }

    fn warp_sync(&mut self, by: Lanes) {
        self.order.clocks.warp_sync(by.block, by.warp, by.mask);
    }

    fn fence(&mut self, by: Lanes, scope: Scope) {
        self.order.fence(by.block, by.warp, by.mask, scope);
    }

    fn proxy_fence(&mut self, by: Lanes, fence: ProxyFence) {
        self.order.proxy_fence(by.block, by.warp, by.mask, fence);
    }

    fn flag(&mut self, by: Lanes, class: AccessClass, location: u64) {
        let by = (by.block, by.warp, by.mask);
        self.order
            .synchronise(by, |_| Location::Global(location), class);
    }

    fn test(&mut self, access: &Access<'_>) {
        let location = |lane: u32| Location::Shared(access.offsets[lane as usize]);
        let by = (access.block, access.warp, access.mask);
        self.order.synchronise(by, location, access.class());
    }
}
