//! What shadow memory remembers of a cell: writes and reads.

use warpsmith_isa::effect::{AccessKind, Order, Proxy, Scope};

use super::super::access::{AccessClass, ProxyFence, RaceCause, Site};
use super::super::clock::Observer;
use super::super::known::Number;
use super::access::{EarlierAccess, LaneAccess};

/// A write, or `epoch` 0 for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write<T> {
    pub epoch: u32,
    pub site: Site,
    pub thread: T,
    pub agent: T,
    pub class: AccessClass,
}

impl<T: Number> Write<T> {
    pub const NONE: Write<T> = Write {
        epoch: 0,
        site: 0,
        thread: T::NO_AGENT,
        agent: T::NO_AGENT,
        class: NO_CLASS,
    };

    /// Whether it is ordered before what `by` does now, or whether there is none.
    #[inline]
    pub fn is_seen(&self, by: &Observer<'_, T>) -> bool {
        self.epoch == 0
            || if self.agent == T::NO_AGENT {
                by.seen(self.thread, self.epoch)
            } else {
                by.has_seen_done(self.agent, self.epoch)
            }
    }

    /// As the earlier access of a race.
    pub fn earlier(&self, cause: RaceCause) -> EarlierAccess<T> {
        EarlierAccess {
            thread: self.thread,
            agent: self.agent,
            site: self.site,
            class: self.class,
            cause,
        }
    }

    /// Why it is not ordered before the access, if it is not.
    #[inline]
    pub fn obstacle(&self, by: &Observer<'_, T>, own: &LaneAccess<T>) -> Option<RaceCause> {
        if !self.is_seen(by) {
            return Some(RaceCause::Unordered);
        }
        let is_fenced = self.epoch == 0
            || own.class.proxy != Proxy::Async
            || self.class.proxy == Proxy::Async
            || by.has_seen_fence(self.thread, self.epoch, ProxyFence::Async);
        (!is_fenced).then_some(RaceCause::Proxy)
    }
}

/// Of no access.
const NO_CLASS: AccessClass = AccessClass {
    kind: AccessKind::Read,
    order: Order::Weak,
    scope: Scope::Block,
    proxy: Proxy::Generic,
};

/// Reads by lanes of one warp in one epoch and by one instruction, or by an agent on behalf of a lane; `epoch` 0 for none.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Reads<T> {
    pub(super) epoch: u32,
    pub(super) site: Site,
    pub(super) mask: u32,
    /// The thread of the warp's lane 0.
    pub(super) first: T,
    pub(super) agent: T,
    pub(super) class: AccessClass,
}

impl<T: Number> Reads<T> {
    pub(super) const NONE: Reads<T> = Reads {
        epoch: 0,
        site: 0,
        mask: 0,
        first: T::NO_AGENT,
        agent: T::NO_AGENT,
        class: NO_CLASS,
    };

    /// Whether a thread of `by`'s block, as far as that is quickly told, has seen them all.
    #[inline]
    pub(super) fn is_quickly_seen(&self, by: &Observer<'_, T>) -> bool {
        self.agent == T::NO_AGENT && by.seen_block(self.first, self.epoch)
    }

    /// One of those that are not ordered before what `by` does now.
    #[inline]
    pub(super) fn unseen(&self, by: &Observer<'_, T>) -> Option<T> {
        if self.agent != T::NO_AGENT {
            let thread = self.first.plus(self.mask.trailing_zeros());
            return (!by.has_seen_done(self.agent, self.epoch)).then_some(thread);
        }
        let mut rest = self.mask;
        while rest != 0 {
            let thread = self.first.plus(rest.trailing_zeros());
            if !by.seen(thread, self.epoch) {
                return Some(thread);
            }
            rest &= rest - 1;
        }
        None
    }

    /// One of those of which none of these observers knows.
    pub(super) fn unseen_by_all(&self, observers: &[Observer<'_, T>]) -> Option<T> {
        let lanes = (0..32).filter(|lane| self.mask >> lane & 1 != 0);
        let mut threads = lanes.map(|lane| self.first.plus(lane));
        threads.find(|&thread| {
            !observers.iter().any(|by| match self.agent {
                agent if agent == T::NO_AGENT => by.seen(thread, self.epoch),
                agent => by.has_seen_done(agent, self.epoch),
            })
        })
    }

    /// Whether they can be forgotten once `own` is remembered, which was made when of the block's accesses those below `floor`, and
    /// of its warp's those below `of_warp`, were ordered before it. Those of other blocks are all below `floor`: while there are
    /// later ones, the block's accesses go to the shadow at once.
    pub fn was_seen(&self, floor: u32, of_warp: u32, own: &LaneAccess<T>) -> bool {
        self.epoch == 0
            || self.agent == T::NO_AGENT
                && tolerance(self.class) >= tolerance(own.class)
                && (self.epoch < floor
                    || self.first == own.first()
                        && (self.epoch < of_warp || self.mask == 1 << own.lane))
    }

    /// Whether they can be forgotten once `own` is remembered: whoever has seen that has seen them, and they conflict with
    /// nothing else.
    #[inline]
    pub(super) fn is_covered(&self, by: &Observer<'_, T>, own: &LaneAccess<T>) -> bool {
        if self.epoch == 0 {
            return true;
        }
        if own.agent != T::NO_AGENT {
            // What the thread has seen that issued it is not what those have who learn of its completion.
            return self.agent == own.agent;
        }
        tolerance(self.class) >= tolerance(own.class)
            && (self.is_quickly_seen(by)
                || (by.may_have_seen(self.epoch) || self.first == own.first())
                    && self.unseen(by).is_none())
    }
}

/// How much an access tolerates: nothing, or strong accesses of its scope; the wider, the more.
pub(super) fn tolerance(class: AccessClass) -> u32 {
    if class.is_strong() {
        1 + class.scope as u32
    } else {
        0
    }
}

/// What is known of a word or byte.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Cell<T> {
    pub(super) weak: Write<T>,
    pub(super) strong: Write<T>,
    pub(super) reads: Reads<T>,
    /// Where reads by further warps are, in `Shadow::further_reads`, plus one.
    pub(super) further_reads: u32,
}

impl<T: Number> Cell<T> {
    pub const UNTOUCHED: Cell<T> = Cell {
        weak: Write::NONE,
        strong: Write::NONE,
        reads: Reads::NONE,
        further_reads: 0,
    };
}
