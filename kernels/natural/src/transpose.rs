//! The transpose of a matrix, through tiles in shared memory.

use warpsmith_device::prelude::*;

/// `to` = the transpose of `from`.
#[kernel(launch_bounds(32, 8))]
pub fn transpose(from: Matrix<f32>, mut to: TilePerBlock<f32, 32, 32>) {
    let (row, column) = to.origin();
    let tile = shared!([[f32; 32]; 32], padding = 1)
        .fill_with(|r, c| from.get(column + r, row + c).copied().unwrap_or(0.0))
        .sync();
    to.for_each_mine(|r, c, to| *to = tile[(c - column, r - row)]);
}
