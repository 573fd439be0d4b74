//! Asynchronous operations of the cluster's shared memory, and the fences between proxies.

use warpsmith_isa::effect::{AccessKind, ObjectUse};

use super::super::access::{
    Access, AccessClass, AsyncAccess, AsyncCompletion, AsyncTicket, Performer, ProxyFence,
    RaceCause, ThreadAccess,
};
use super::super::finding::Finding;
use super::super::known::{ClusterThread, Number};
use super::super::mbarriers::MBARRIER_BYTES;
use super::super::pattern::{Pattern, lanes_of};
use super::super::shadow::LaneAccess;
use super::races::Races;
use super::{SharedMemory, by_lane};

impl SharedMemory {
    /// A thread starts an asynchronous operation on shared memory: call it with the instruction, for each range of bytes that
    /// it reads or writes there, of whichever block. From now on the bytes may be accessed at any time, so accesses that nothing
    /// orders before the instruction or after the completion race with it; so do ordinary writes before it without a proxy
    /// fence.
    ///
    /// The engine keeps the ticket. When the bytes are moved, it calls [`SharedMemory::complete`]; when the issuing threads have
    /// waited for the operation's group, [`SharedMemory::wait`].
    pub fn issue(&mut self, operation: &AsyncAccess) -> Result<AsyncTicket, Finding> {
        if let Some(found) = self.uninitialised_source(operation) {
            if self.races.is_none() {
                return Err(found);
            }
            self.pending.get_or_insert(found);
        }
        let ticket = match &mut self.races {
            Some(races) => races.issue(operation)?,
            None => AsyncTicket::UNKNOWN,
        };
        if operation.kind.writes()
            && let Some(found) = self.overwritten_mbarrier(
                operation.offset,
                operation.bytes,
                ObjectUse::Data,
                || by_operation(operation),
            )
        {
            return Err(found);
        }
        if let Some(races) = &mut self.races {
            races.order.publish_start(operation);
        }
        Ok(ticket)
    }

    /// Lanes of a warp start copies to shared memory for whose completion each waits by itself (`cp.async`): call it with the
    /// instruction. From now on the bytes may be written at any time. When they are, the engine calls
    /// [`SharedMemory::complete_copies`].
    pub fn begin_copies(&mut self, access: &Access<'_>) -> Option<Finding> {
        self.races.as_mut()?.begin_copies(access)
    }

    /// Copies are done, of lanes that have waited for them. The lanes may be fewer than those that started them, or of several
    /// executions of the instruction.
    pub fn complete_copies(&mut self, access: &Access<'_>) -> Option<Finding> {
        if let Some(races) = &mut self.races {
            races.in_flight.end(access);
        }
        self.access(access, &())
    }

    /// Copies are done, of lanes for which an mbarrier counts them (`cp.async.mbarrier.arrive`), each at the offset given with it: call it
    /// before the arrival. Nobody may touch the bytes until a thread has waited there, not even the lanes that started the copies.
    pub fn complete_copies_at(
        &mut self,
        access: &Access<'_>,
        mbarriers: &[u32; 32],
    ) -> Option<Finding> {
        let found = self.complete_copies(access);
        if found.is_none()
            && let Some(races) = &mut self.races
        {
            let Races {
                in_flight, order, ..
            } = races;
            in_flight.forget(|block, AsyncTicket { agent, epoch }| {
                let agent = ClusterThread::new(agent as usize);
                order.clocks.all_know(block, agent, epoch)
            });
            in_flight.count(access, mbarriers, |mbarrier| order.count_copies(mbarrier));
        }
        found
    }

    /// Lanes of a warp have waited for copies of their own. That mbarriers count some of them makes no difference.
    pub fn wait_for_copies(&mut self, block: u32, warp: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            races.in_flight.end_counted_of(block, warp, mask);
        }
    }

    /// The finding of an asynchronous operation that reads uninitialised bytes, but for a matrix product: what it reads
    /// is followed.
    fn uninitialised_source(&self, operation: &AsyncAccess) -> Option<Finding> {
        let (offset, size) = (operation.offset, operation.bytes);
        let validity = self.validity.as_ref()?;
        if !operation.kind.reads() || operation.completion == AsyncCompletion::Products {
            return None;
        }
        let at = validity.first_uninitialised_of(offset, size)?;
        Some(Finding::Uninitialised {
            access: by_operation(operation),
            block: at / self.stride,
            offset: at % self.stride,
            size,
            decision: None,
        })
    }

    /// An asynchronous operation is done: call it when its bytes have been moved. If an mbarrier counts it, threads that
    /// acquire there from now on have seen it.
    pub fn finish(&mut self, operation: &AsyncAccess, ticket: AsyncTicket) {
        if operation.kind.writes() {
            self.assume_initialised(operation.offset, operation.bytes);
        }
        if let Some(races) = &mut self.races {
            races.order.finish(operation, ticket);
        }
    }

    /// Lanes have waited for an operation in a bulk group, or for a matrix product: for this one and all that were issued before
    /// it in the same way. It must be done.
    pub fn wait(&mut self, block: u32, warp: u32, mask: u32, ticket: AsyncTicket) {
        if let Some(races) = &mut self.races {
            races.order.wait(block, warp, mask, ticket);
        }
    }

    /// A fence between proxies, by lanes of a warp.
    pub fn proxy_fence(&mut self, block: u32, warp: u32, mask: u32, fence: ProxyFence) {
        if let Some(races) = &mut self.races {
            races.order.proxy_fence(block, warp, mask, fence);
        }
    }
}

/// An asynchronous operation, as findings name it.
fn by_operation(operation: &AsyncAccess) -> ThreadAccess {
    ThreadAccess {
        block: operation.block,
        thread: operation.warp * 32 + operation.lane,
        site: operation.site,
        class: operation.class(),
        performer: Performer::Operation,
    }
}

impl Races {
    fn begin_copies(&mut self, access: &Access<'_>) -> Option<Finding> {
        let class = access.class();
        let pattern = Pattern::of(access);
        let mut found = None;
        if self.is_in_flight(access, pattern) {
            found = self.find_in_flight(access, class);
        }
        if found.is_none() && !self.admits(access, class, pattern) {
            found =
                lanes_of(access.mask).find_map(|lane| self.check_lane(access, class, lane, &()));
        }
        if let Some(Finding::Race { access, .. }) = &mut found {
            access.performer = Performer::Operation;
        } else {
            self.in_flight.begin(access, pattern);
        }
        found
    }

    /// The finding of an access to bytes that are being copied.
    #[cold]
    pub(super) fn find_in_flight(
        &self,
        access: &Access<'_>,
        class: AccessClass,
    ) -> Option<Finding> {
        lanes_of(access.mask).find_map(|lane| {
            let offset = access.offsets[lane as usize];
            let by = by_lane(access, class, lane);
            self.race_in_flight(by, offset, access.size)
        })
    }

    /// The finding of an access to a range some of whose bytes are being copied.
    fn race_in_flight(&self, access: ThreadAccess, offset: u32, size: u32) -> Option<Finding> {
        let (at, earlier) = self
            .in_flight
            .first_in(offset, size)
            .or_else(|| self.unheard(access, offset, size))?;
        Some(Finding::Race {
            access,
            earlier,
            cause: RaceCause::InFlight,
            block: at / self.stride,
            offset: at % self.stride,
            size,
        })
    }

    /// Whether an access touches bytes that are being copied, or of whose copies not all of its threads have heard that
    /// they are done.
    #[inline]
    pub(super) fn is_in_flight(&self, access: &Access<'_>, pattern: Pattern) -> bool {
        let (block, warp) = (access.block, access.warp);
        self.in_flight.touches(access, pattern, |ticket| {
            // Most often all lanes know the same.
            let lanes = match self.order.clocks.view(block, warp) {
                Some(_) => access.mask & access.mask.wrapping_neg(),
                None => access.mask,
            };
            lanes_of(lanes).all(|lane| self.has_heard((block, warp, lane), ticket))
        })
    }

    /// Whether a thread has heard that copies are done which an mbarrier counts.
    fn has_heard(&self, (block, warp, lane): (u32, u32, u32), ticket: AsyncTicket) -> bool {
        let clocks = &self.order.clocks;
        let agent = ClusterThread::new(ticket.agent as usize);
        let observer = clocks.observer(clocks.thread(block, warp, lane));
        observer.has_seen_done(agent, ticket.epoch)
    }

    /// The first byte of a range into which something was copied that an mbarrier counts, without the thread having
    /// heard of its phase.
    fn unheard(&self, access: ThreadAccess, offset: u32, size: u32) -> Option<(u32, ThreadAccess)> {
        let thread = (access.block, access.thread / 32, access.thread % 32);
        let mut copies = self.in_flight.done_in(offset, size);
        let unheard = copies.find(|(_, _, ticket)| !self.has_heard(thread, *ticket));
        unheard.map(|(at, by, _)| (at, by))
    }

    /// Checks an asynchronous operation, and records it if there is nothing against it.
    fn issue(&mut self, operation: &AsyncAccess) -> Result<AsyncTicket, Finding> {
        let (offset, bytes) = (operation.offset, operation.bytes);
        if let Some(found) = self.race_in_flight(by_operation(operation), offset, bytes) {
            return Err(found);
        }
        let (ticket, own) = self.order.begin(operation);
        self.refine(offset, bytes);
        self.open_shadow(operation.block, own.thread, offset, bytes);
        if let AsyncCompletion::Mbarrier { offset } = operation.completion {
            let mbarrier = (offset, MBARRIER_BYTES);
            self.refine(offset, MBARRIER_BYTES);
            self.open_shadow(operation.block, own.thread, offset, MBARRIER_BYTES);
            let clocks = &self.order.clocks;
            if let Some(earlier) = self.shadow.mbarrier_conflict(clocks, &own, mbarrier) {
                let class = AccessClass {
                    kind: AccessKind::Atomic,
                    ..own.class
                };
                let counting = LaneAccess { class, ..own };
                return Err(self.race(&counting, &earlier, offset, MBARRIER_BYTES));
            }
        }
        let clocks = &self.order.clocks;
        let found = self.shadow.check(clocks, &own, (offset, bytes), |_| false);
        if let Some((earlier, at)) = found {
            return Err(self.race(&own, &earlier, at.max(offset), bytes));
        }
        let end = offset + bytes;
        let last = self.order.clocks.topology().blocks() - 1;
        for block in offset / self.stride..end.div_ceil(self.stride) {
            self.order.agents.unsettle(block.min(last), ticket);
        }
        Ok(ticket)
    }
}
