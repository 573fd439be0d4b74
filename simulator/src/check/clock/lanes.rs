//! Where threads are.

use super::super::known::Number;

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position<T> {
    pub block: T,
    /// Counted through all blocks.
    pub warp: T,
    pub lane: u8,
}

/// Lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<T> {
    /// The thread of lane 0.
    pub first: T,
    pub mask: u32,
}

impl<T: Number> Lanes<T> {
    pub fn threads(self) -> impl Iterator<Item = T> {
        (0..32)
            .filter(move |lane| self.mask >> lane & 1 != 0)
            .map(move |lane| self.first.plus(lane))
    }
}
