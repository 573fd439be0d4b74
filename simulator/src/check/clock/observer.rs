//! What a thread has seen of what others did.

use warpsmith_isa::effect::Scope;

use super::super::access::ProxyFence;
use super::super::known::Number;
use super::clocks::Clocks;
use super::knowledge::{Knowledge, WarpClock};
use super::lanes::Position;

/// What a thread knows.
#[derive(Clone, Copy)]
pub(in super::super) struct Observer<'a, T> {
    clocks: &'a Clocks<T>,
    thread: T,
    position: Position<T>,
    knowledge: &'a Knowledge,
    /// What it knows of single lanes of its warp, if that differs.
    lanes: Option<&'a [u32; 32]>,
    /// It has seen nothing that other threads did in this epoch or a later one.
    ceiling: u32,
}

impl<T: Number> Observer<'_, T> {
    /// Whether it can have seen what any other thread did in `epoch`.
    #[inline]
    pub fn may_have_seen(&self, epoch: u32) -> bool {
        epoch < self.ceiling
    }

    /// Whether it has seen what `other` did in `epoch`.
    #[inline]
    pub fn seen(&self, other: T, epoch: u32) -> bool {
        if epoch < self.knowledge.cluster || self.thread == other {
            return true;
        }
        let others = self.clocks.positions[other.index()];
        if self.position.block == others.block && epoch < self.knowledge.block {
            return true;
        }
        if self.position.warp == others.warp {
            let known = self
                .lanes
                .map_or(0, |lanes| lanes[usize::from(others.lane)]);
            if epoch < self.knowledge.warp.max(known) {
                return true;
            }
        }
        self.knowledge
            .known
            .threads
            .as_ref()
            .is_some_and(|each| epoch < each[other.index()])
    }

    /// Whether it knows that an operation of an agent is done.
    pub fn has_seen_done(&self, agent: T, epoch: u32) -> bool {
        epoch < self.clocks.began || epoch < self.knowledge.known.done(agent)
    }

    /// Whether a proxy fence stands between what `other` wrote in `epoch` and what this thread starts now: it has seen the
    /// first one that followed.
    pub fn has_seen_fence(&self, other: T, epoch: u32, orders: ProxyFence) -> bool {
        epoch < self.clocks.began
            || self
                .clocks
                .proxy_fences
                .first_after(other, epoch, orders)
                .is_some_and(|entered| self.seen(other, entered - 1))
    }

    /// Whether a scope, if its own accesses have it and those of another thread, includes both threads.
    #[inline(always)]
    pub fn meets(&self, other: T, scope: Scope) -> bool {
        let (own, other) = (
            self.position.block,
            self.clocks.positions[other.index()].block,
        );
        let topology = &self.clocks.topology;
        own == other || topology.includes(scope, own.index() as u32, other.index() as u32)
    }

    /// Whether it has seen what any thread of the block of `other` did in `epoch`, as far as that is quickly told.
    #[inline]
    pub fn seen_block(&self, other: T, epoch: u32) -> bool {
        epoch < self.knowledge.cluster
            || epoch < self.knowledge.block
                && self.position.block == self.clocks.positions[other.index()].block
    }
}

impl<T: Number> Clocks<T> {
    /// What a thread knows, to be asked several times.
    #[inline]
    pub fn observer(&self, thread: T) -> Observer<'_, T> {
        let position = self.positions[thread.index()];
        let clock = &self.warps[position.warp.index()];
        let knowledge = clock.lane(position.lane.into());
        Observer {
            clocks: self,
            thread,
            position,
            knowledge,
            ceiling: match (clock, &knowledge.known.threads) {
                (WarpClock::Uniform(_), None) => {
                    knowledge.cluster.max(knowledge.block).max(knowledge.warp)
                }
                _ => u32::MAX,
            },
            lanes: match clock {
                WarpClock::Uniform(_) => None,
                WarpClock::Diverged(lanes) => Some(&lanes[usize::from(position.lane)].lanes),
            },
        }
    }
}
