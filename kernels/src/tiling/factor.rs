//! One factor of a product on its way: from global memory through registers into the tiles in shared memory.

use super::{
    Direction, Down, Extent, Policy, Position, Right, SharedTile, Span, StoreOrder, TileReader,
};
use core::marker::PhantomData;
use warpsmith_device::prelude::*;
use warpsmith_device::vector::Lanes;

/// A factor: how the thread reads its tiles, and the two tiles in shared memory that take turns.
pub struct Factor<E, D, S, const ITEMS: usize> {
    reader: TileReader<E, D, ITEMS>,
    span: Span<ITEMS>,
    first: SharedTile<E>,
    /// Elements from the first tile to the second.
    size: usize,
    order: PhantomData<S>,
}

impl<E: Lanes, S: StoreOrder, const ITEMS: usize> Factor<E, Right, S, ITEMS> {
    /// The first factor, of which `depth` columns are multiplied, with two tiles in shared memory: `first`, and the one `size` elements
    /// behind it.
    ///
    /// # Safety
    /// `a` has `depth` columns. The tiles are shared memory of the calling block, aligned to 16, with room for a tile of the policy;
    /// nothing else uses them while this lives.
    #[inline(always)]
    pub unsafe fn left(
        policy: &Policy,
        a: &Matrix<E>,
        depth: u32,
        first: SharedTile<E>,
        size: usize,
    ) -> Self {
        let inside = Extent {
            rows: a.rows() as u32,
            columns: depth,
        };
        let span = policy.span_a::<E, ITEMS>();
        let origin = Position {
            row: policy.block_origin().row,
            column: 0,
        };
        Factor {
            // SAFETY: `a` has the columns by the function's condition.
            reader: unsafe { TileReader::new(a, origin, inside, span) },
            span,
            first,
            size,
            order: PhantomData,
        }
    }
}

impl<E: Lanes, S: StoreOrder, const ITEMS: usize> Factor<E, Down, S, ITEMS> {
    /// The second factor, of which `depth` rows are multiplied, with two tiles in shared memory: `first`, and the one `size` elements
    /// behind it.
    ///
    /// # Safety
    /// `b` has `depth` rows. The tiles are shared memory of the calling block, aligned to 16, with room for a tile of the policy;
    /// nothing else uses them while this lives.
    #[inline(always)]
    pub unsafe fn right(
        policy: &Policy,
        b: &Matrix<E>,
        depth: u32,
        first: SharedTile<E>,
        size: usize,
    ) -> Self {
        let inside = Extent {
            rows: depth,
            columns: b.columns() as u32,
        };
        let span = policy.span_b::<E, ITEMS>();
        let origin = Position {
            row: 0,
            column: policy.block_origin().column,
        };
        Factor {
            // SAFETY: `b` has the rows by the function's condition.
            reader: unsafe { TileReader::new(b, origin, inside, span) },
            span,
            first,
            size,
            order: PhantomData,
        }
    }
}

impl<E: Lanes, D: Direction, S: StoreOrder, const ITEMS: usize> Factor<E, D, S, ITEMS> {
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
        // SAFETY: the maker's caller promised the room, the alignment and that the block has the tiles for itself; each thread
        // writes its own part, and no thread reads the tile meanwhile by this function's condition.
        unsafe { S::store(self.tile(number), self.span, items) }
    }
}
