//! What lies in the shared memory: a header, a slot for each rank, and a ring for each ordered pair of ranks, in this order.

use std::sync::atomic::{AtomicU32, AtomicU64};

use super::key::KEY;

/// What one rank says in a split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) color: i32,
    pub(crate) key: i32,
    /// How many collectives it has called before, or [`Part::UNKNOWN`].
    pub(crate) calls: u64,
    /// By which its color comes together if it becomes the first rank of it.
    pub(crate) id: [u8; KEY],
}

impl Part {
    /// [`Part::calls`] of a rank that has captured some: a graph makes them any number of times.
    pub(crate) const UNKNOWN: u64 = u64::MAX;
}

/// Bytes of a ring; a power of two.
pub(super) const RING: usize = 64 * 1024;
#[repr(C, align(64))]
pub(super) struct Header {
    /// How many ranks there are; 0 until the first one says it.
    pub(super) ranks: AtomicU32,
    /// How many have come.
    pub(super) come: AtomicU32,
}

#[repr(C, align(64))]
pub(super) struct Slot {
    pub(super) state: AtomicU32,
    pub(super) process: AtomicU32,
    pub(super) device: AtomicU64,
    /// How many splits this rank has said its part in.
    pub(super) splits: AtomicU64,
    /// Its parts in the last two, each where the lowest bit of the split's number says: who says the next one has read all others' before, so
    /// that nobody reads the one before that any more.
    pub(super) parts: [SaidPart; 2],
}

/// A [`Part`].
#[repr(C)]
pub(super) struct SaidPart {
    pub(super) color: AtomicU32,
    pub(super) key: AtomicU32,
    pub(super) calls: AtomicU64,
    pub(super) id: [AtomicU64; 2],
}

/// The states of a slot.
pub(super) const EMPTY: u32 = 0;
pub(super) const COMING: u32 = 1;
pub(super) const HERE: u32 = 2;
pub(super) const LEFT: u32 = 3;
pub(super) const FAILED: u32 = 4;

#[repr(C, align(64))]
pub(super) struct Ring {
    pub(super) written: AtomicU64,
    _apart: [u64; 7],
    pub(super) read: AtomicU64,
    _apart_too: [u64; 7],
    pub(super) bytes: [u8; RING],
}

/// The bytes of the memory that so many ranks share; `None` where no address space has as many.
pub(super) fn size_of_world(ranks: usize) -> Option<usize> {
    let slots = ranks.checked_mul(size_of::<Slot>())?;
    let rings = ranks.checked_mul(ranks)?.checked_mul(size_of::<Ring>())?;
    let bytes = size_of::<Header>().checked_add(slots)?.checked_add(rings)?;
    (bytes <= isize::MAX as usize).then_some(bytes)
}
