//! Asynchronous operations of the cluster's shared memory, and the fences between proxies.

use warpsmith_isa::effect::{AccessKind, ObjectUse};

use super::super::access::{
    AccessClass, AsyncAccess, AsyncCompletion, AsyncTicket, Finding, ProxyFence,
};
use super::super::known::{Known, Thread};
use super::super::mbarriers::MBARRIER_BYTES;
use super::super::release::Location;
use super::super::shadow::LaneAccess;
use super::SharedMemory;

impl SharedMemory {
    /// A thread starts an asynchronous operation on shared memory: call it with the instruction, for each range of bytes that
    /// it reads or writes there, of whichever block. From now on the bytes may be accessed at any time, so accesses that nothing
    /// orders before the instruction or after the completion race with it; so do ordinary writes before it without a proxy
    /// fence.
    ///
    /// The engine keeps the ticket. When the bytes are moved, it calls [`SharedMemory::complete`]; when the issuing threads have
    /// waited for the operation's group, [`SharedMemory::wait`].
    pub fn issue(&mut self, operation: &AsyncAccess) -> Result<AsyncTicket, Finding> {
        let class = operation.class();
        let thread = self
            .clocks
            .thread(operation.block, operation.warp, operation.lane);
        let first = thread - operation.lane as Thread;
        let epoch = self.clocks.fresh();
        let ticket = self
            .agents
            .begin(thread, first, operation.completion, epoch);
        let own = LaneAccess {
            thread,
            lane: operation.lane,
            agent: ticket.agent,
            site: operation.site,
            class,
            epoch,
        };
        if let Some(found) = self.start_operation(operation, &own) {
            return Err(found);
        }
        if class.kind.writes()
            && let Some(found) = self.overwritten_mbarrier(
                operation.offset,
                operation.bytes,
                ObjectUse::Data,
                || self.thread_access(thread, ticket.agent, operation.site, class),
            )
        {
            return Err(found);
        }
        let end = operation.offset + operation.bytes;
        for block in operation.offset / self.stride..end.div_ceil(self.stride) {
            self.agents
                .unsettle(block.min(self.clocks.blocks() - 1), ticket);
        }
        if let AsyncCompletion::Mbarrier { offset } = operation.completion {
            let location = Location::Shared(offset);
            self.releases
                .start_operation(&mut self.clocks, thread, location);
        }
        Ok(ticket)
    }

    /// Checks an asynchronous operation, and records it if there is nothing against it.
    fn start_operation(&mut self, operation: &AsyncAccess, own: &LaneAccess) -> Option<Finding> {
        let (offset, bytes) = (operation.offset, operation.bytes);
        if own.class.kind.reads()
            && let Some(validity) = &self.validity
            && let Some(at) = validity.first_uninitialised_of(offset, bytes)
        {
            let finding = Finding::Uninitialised {
                access: self.thread_access(own.thread, own.agent, own.site, own.class),
                block: at / self.stride,
                offset: at % self.stride,
                size: bytes,
            };
            if self.races.is_none() {
                return Some(finding);
            }
            self.pending.get_or_insert(finding);
        }
        let races = self.races.as_mut()?;
        races.refine(offset, bytes);
        races.open_shadow(
            &self.clocks,
            operation.block,
            own.thread,
            offset,
            bytes,
            self.stride,
        );
        let by = self.clocks.observer(own.thread);
        if let AsyncCompletion::Mbarrier { offset } = operation.completion {
            races.refine(offset, MBARRIER_BYTES);
            races.open_shadow(
                &self.clocks,
                operation.block,
                own.thread,
                offset,
                MBARRIER_BYTES,
                self.stride,
            );
            let shadow = &races.shadow;
            let conflict = shadow
                .range(offset, MBARRIER_BYTES)
                .find_map(|cell| shadow.mbarrier_conflict(&by, cell, own));
            if let Some(earlier) = conflict {
                let class = AccessClass {
                    kind: AccessKind::Atomic,
                    ..own.class
                };
                let counting = LaneAccess { class, ..*own };
                return Some(self.race(&counting, earlier, offset, MBARRIER_BYTES));
            }
        }
        let shadow = &mut races.shadow;
        for cell in shadow.range(offset, bytes) {
            if let Some(earlier) = shadow.conflict(&by, cell, own) {
                let at = shadow.offset(cell).max(offset);
                return Some(self.race(own, earlier, at, bytes));
            }
            shadow.record(&by, cell, own);
        }
        None
    }

    /// An asynchronous operation is done: call it when its bytes have been moved. If an mbarrier counts it, threads that
    /// acquire there from now on have seen it.
    pub fn finish(&mut self, operation: &AsyncAccess, ticket: AsyncTicket) {
        if operation.kind.writes() {
            self.assume_initialised(operation.offset, operation.bytes);
        }
        let done = self.agents.end(ticket);
        if let AsyncCompletion::Mbarrier { offset } = operation.completion {
            self.releases
                .count(&self.clocks, Location::Shared(offset), ticket.agent, done);
        }
    }

    /// Lanes have waited for an operation in a bulk group, or for a matrix product: for this one and all that were issued before
    /// it in the same way. It must be done.
    pub fn wait(&mut self, block: u32, warp: u32, mask: u32, ticket: AsyncTicket) {
        let mut known = Known::default();
        known.learn_done(ticket.agent, ticket.epoch + 1);
        self.clocks.learn_all(block, warp, mask, &known);
    }

    /// A fence between proxies, by lanes of a warp.
    pub fn proxy_fence(&mut self, block: u32, warp: u32, mask: u32, fence: ProxyFence) {
        self.clocks.proxy_fence(block, warp, mask, fence);
    }
}
