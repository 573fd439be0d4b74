//! What a thread has seen of what others did.

use super::super::access::ProxyFence;
use super::super::known::{Agent, Thread};
use super::clocks::Clocks;
use super::knowledge::{Knowledge, WarpClock};
use super::lanes::Position;

/// What a thread knows.
#[derive(Clone, Copy)]
pub(in super::super) struct Observer<'a> {
    clocks: &'a Clocks,
    thread: Thread,
    position: Position,
    knowledge: &'a Knowledge,
    /// What it knows of single lanes of its warp, if that differs.
    lanes: Option<&'a [u32; 32]>,
    /// It has seen nothing that other threads did in this epoch or a later one.
    ceiling: u32,
}

impl Observer<'_> {
    /// Whether it can have seen what any other thread did in `epoch`.
    #[inline]
    pub fn may_have_seen(&self, epoch: u32) -> bool {
        epoch < self.ceiling
    }

    /// Whether it has seen what `other` did in `epoch`.
    #[inline]
    pub fn seen(&self, other: Thread, epoch: u32) -> bool {
        if epoch < self.knowledge.cluster || self.thread == other {
            return true;
        }
        let others = self.clocks.positions[usize::from(other)];
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
            .is_some_and(|each| epoch < each[usize::from(other)])
    }

    /// Whether it knows that an operation of an agent is done.
    pub fn has_seen_done(&self, agent: Agent, epoch: u32) -> bool {
        epoch < self.clocks.began || epoch < self.knowledge.known.done(agent)
    }

    /// Whether a proxy fence stands between what `other` wrote in `epoch` and what this thread starts now: it has seen the
    /// first one that followed.
    pub fn has_seen_fence(&self, other: Thread, epoch: u32, orders: ProxyFence) -> bool {
        epoch < self.clocks.began
            || self
                .clocks
                .proxy_fences
                .first_after(other, epoch, orders)
                .is_some_and(|entered| self.seen(other, entered - 1))
    }

    /// Whether a thread is in the same block.
    #[inline]
    pub fn is_block_of(&self, other: Thread) -> bool {
        self.position.block == self.clocks.positions[usize::from(other)].block
    }

    /// Whether it has seen what any thread of the block of `other` did in `epoch`, as far as that is quickly told.
    #[inline]
    pub fn seen_block(&self, other: Thread, epoch: u32) -> bool {
        epoch < self.knowledge.cluster
            || epoch < self.knowledge.block
                && self.position.block == self.clocks.positions[usize::from(other)].block
    }
}

impl Clocks {
    /// What a thread knows, to be asked several times.
    #[inline]
    pub fn observer(&self, thread: Thread) -> Observer<'_> {
        let position = self.positions[usize::from(thread)];
        let clock = &self.warps[usize::from(position.warp)];
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
