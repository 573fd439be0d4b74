//! One factor of a product on its way: from global memory through registers into the tiles in shared memory.

use super::{Direction, SharedTile, Span, StoreOrder, TileReader};
use core::marker::PhantomData;
use warpsmith_device::vector::{Lanes, Vector};

/// A factor: how the thread reads its tiles, and the two tiles in shared memory that take turns.
pub struct Factor<E, D, S, const ITEMS: usize> {
    reader: TileReader<E, D, ITEMS>,
    span: Span<ITEMS>,
    first: SharedTile<E>,
    /// Elements from the first tile to the second.
    size: usize,
    order: PhantomData<S>,
}

impl<E: Lanes, D: Direction, S: StoreOrder, const ITEMS: usize> Factor<E, D, S, ITEMS> {
    /// A factor that `reader` reads, with two tiles in shared memory: `first`, and the one `size` elements behind it.
    ///
    /// # Safety
    /// The tiles are shared memory of the calling block, aligned to 16, with room for the tile that `span` is a part of; nothing
    /// else uses them while this lives.
    #[inline(always)]
    pub unsafe fn new(
        reader: TileReader<E, D, ITEMS>,
        span: Span<ITEMS>,
        first: SharedTile<E>,
        size: usize,
    ) -> Self {
        Factor {
            reader,
            span,
            first,
            size,
            order: PhantomData,
        }
    }

    /// The tile in shared memory with this number, 0 or 1.
    #[inline(always)]
    pub(super) fn tile(&self, number: usize) -> SharedTile<E> {
        SharedTile {
            first: self.first.first.wrapping_add(number * self.size),
            ..self.first
        }
    }

    /// [`TileReader::read`]
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn read<const VECTORS: bool>(&self, k: u32) -> [Vector<E>; ITEMS] {
        // SAFETY: the caller keeps the reader's conditions.
        unsafe { self.reader.read::<VECTORS>(k) }
    }

    /// Writes what was read into the tile with this number.
    ///
    /// # Safety
    /// All threads have read what they need of the tile, and passed a barrier since.
    #[inline(always)]
    pub(super) unsafe fn store(&self, number: usize, items: [Vector<E>; ITEMS]) {
        // SAFETY: `new`'s caller promised the room, the alignment and that the block has the tiles for itself; each thread
        // writes its own part, and no thread reads the tile meanwhile by this function's condition.
        unsafe { S::store(self.tile(number), self.span, items) }
    }
}
