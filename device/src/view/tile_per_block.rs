//! A matrix whose tiles belong to blocks.

use super::define::{extents, matrix_view};
use crate::block;
use crate::shared::own_elements;

matrix_view! {
    /// A matrix divided into tiles of `R` rows and `C` columns, of which each block of a two-dimensional grid owns one: that with the row
    /// `block.y` and the column `block.x` of tiles.
    ///
    /// Written as a parameter: `mut c: TilePerBlock<f32, 32, 32>`; the launch passes a matrix, as for [`MatrixOut`](super::MatrixOut). It
    /// may extend along x and y; the launcher holds that. In its tile a thread has the elements that it has of a
    /// [`SharedTile`](crate::shared::SharedTile) of this shape: threads along x have neighbouring columns.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Blocks of 32 by 8 threads, say: each thread has four rows of the tile.
    /// #[kernel(launch_bounds(32, 8))]
    /// pub fn transpose(from: Matrix<f32>, mut to: TilePerBlock<f32, 32, 32>) {
    ///     let (row, column) = to.origin();
    ///     let tile = shared!([[f32; 32]; 32], padding = 1)
    ///         .fill_with(|r, c| from.get(column + r, row + c).copied().unwrap_or(0.0))
    ///         .sync();
    ///     to.for_each_mine(|r, c, to| *to = tile[(c - column, r - row)]);
    /// }
    /// ```
    TilePerBlock<T, const R: usize, const C: usize>(rows: u32, columns: u32, stride: u32) of "`rows` rows of `columns` elements, `stride` apart",
    // With larger ones the places of two tiles could be equal modulo 2^64.
    where assert!(
        R - 1 < u32::MAX as usize && C - 1 < u32::MAX as usize,
        "a tile has rows and columns, at most 2^32 - 1 of each"
    )
}

impl<T, const R: usize, const C: usize> TilePerBlock<'_, T, R, C> {
    extents! {
        /// The number of rows of the whole matrix.
        rows, rows32;
        /// The number of columns of the whole matrix.
        columns, columns32;
    }

    /// Row and column of the tile's first element (they may be past the last ones).
    #[inline(always)]
    pub fn origin(&self) -> (usize, usize) {
        let (x, y, _) = block::idx();
        (y as usize * R, x as usize * C)
    }

    /// Calls `change` with each of the thread's elements of the tile that the matrix has: row and column in the matrix, and the
    /// element.
    #[inline(always)]
    pub fn for_each_mine(&mut self, mut change: impl FnMut(usize, usize, &mut T)) {
        let (first_row, first_column) = self.origin();
        own_elements::<R, C>(|row, column| {
            let (row, column) = (first_row + row, first_column + column);
            if row < self.rows() && column < self.columns() {
                // SAFETY: in bounds; the tile is the block's, since the grid extends along x and y only, and this element of it the
                // thread's (`own_elements`).
                change(row, column, unsafe {
                    &mut *self.pointer.add(row * self.stride as usize + column)
                });
            }
        });
    }
}
