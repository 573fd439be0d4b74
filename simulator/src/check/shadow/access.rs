//! Accesses, as shadow memory is told of them and names them.

use super::super::access::{AccessClass, RaceCause, Site};
use super::super::clock::Observer;
use super::super::known::Number;

/// The earlier access of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct EarlierAccess<T> {
    pub thread: T,
    pub agent: T,
    pub site: Site,
    pub class: AccessClass,
    pub cause: RaceCause,
}

/// One lane's access to one cell.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct LaneAccess<T> {
    pub thread: T,
    pub lane: u32,
    /// Who performs it, if it is asynchronous.
    pub agent: T,
    pub site: Site,
    pub class: AccessClass,
    /// The thread's epoch when it was made; the operation's, if it is asynchronous.
    pub epoch: u32,
}

impl<T: Number> LaneAccess<T> {
    /// The thread of its warp's lane 0.
    #[inline]
    pub(super) fn first(&self) -> T {
        self.thread.minus(self.lane)
    }

    /// Whether both are strong, and each one's scope includes the other's thread: they may meet then.
    #[inline(always)]
    pub(super) fn may_meet(&self, by: &Observer<'_, T>, other: AccessClass, thread: T) -> bool {
        self.class.is_strong()
            && other.is_strong()
            && self.class.proxy == other.proxy
            && by.meets(thread, self.class.scope.min(other.scope))
    }

    /// The cause of its race with another one that is unordered.
    pub(super) fn cause(&self, other: AccessClass) -> RaceCause {
        if self.class.is_strong() && other.is_strong() && self.class.proxy == other.proxy {
            RaceCause::Scope
        } else {
            RaceCause::Unordered
        }
    }
}
