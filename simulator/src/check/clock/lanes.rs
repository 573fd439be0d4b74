//! Where threads are.

use super::super::known::Thread;

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub block: u16,
    /// Counted through all blocks.
    pub warp: u16,
    pub lane: u8,
}

/// Lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    /// The thread of lane 0.
    pub first: Thread,
    pub mask: u32,
}

impl Lanes {
    pub fn threads(self) -> impl Iterator<Item = Thread> {
        (0..32)
            .filter(move |lane| self.mask >> lane & 1 != 0)
            .map(move |lane| self.first + lane)
    }
}
