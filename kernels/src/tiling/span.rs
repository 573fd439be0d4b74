//! How a block's threads share the copying of a tile.

use super::Extent;
use warpsmith_device::prelude::*;
use warpsmith_device::vector::Lanes;

/// The calling thread's part in copying a tile: `ITEMS` vectors of 16 bytes below each other.
#[derive(Clone, Copy)]
pub struct Span<const ITEMS: usize> {
    /// Row in the tile of the first vector.
    pub row: u32,
    /// Column in the tile of the vectors.
    pub column: u32,
    /// The distance of the vectors, in rows: so many rows the block copies at a time.
    pub rows_a_pass: u32,
}

impl<const ITEMS: usize> Span<ITEMS> {
    /// The loops over the items are written out by `unroll!`, for as many as this.
    const AT_MOST_FOUR: () = assert!(ITEMS <= 4);

    /// For a tile of elements `E` and a block of so many threads, which lie side by side along the rows.
    ///
    /// # Panics
    /// If the vectors of the tile are not `ITEMS` for each thread; as the numbers are constants, nothing is left of the check.
    #[inline(always)]
    pub fn of<E: Lanes>(tile: Extent, threads: u32) -> Span<ITEMS> {
        let () = Self::AT_MOST_FOUR;
        let across = tile.columns / E::LANES as u32;
        let rows_a_pass = threads / across;
        assert!(rows_a_pass * ITEMS as u32 == tile.rows);
        Span {
            row: thread::thread_idx_x() / across,
            column: thread::thread_idx_x() % across * E::LANES as u32,
            rows_a_pass,
        }
    }
}
