//! The bright parts of a picture grow: a dilation by 5 x 5 pixels, through tiles in shared memory.

use warpsmith_device::prelude::*;

/// Threads of a block along a row.
pub const WIDTH: usize = 32;
/// Threads of a block along a column.
pub const HEIGHT: usize = 8;
/// How far bright parts grow.
pub const RADIUS: usize = 2;

/// `out` = the brightest of the 5 x 5 pixels around each one; beyond the border it is dark.
#[kernel(launch_bounds(32, 8, exact))]
pub fn dilation(picture: Matrix<u8>, mut out: MatrixOut<u8>) {
    let top = thread::block_idx_y() as usize * HEIGHT;
    let left = thread::block_idx_x() as usize * WIDTH;
    let pixel = |row: usize, column: usize| {
        let row = row.checked_sub(RADIUS)?;
        let column = column.checked_sub(RADIUS)?;
        picture.get(row, column).copied()
    };
    let tile = shared!([[u8; WIDTH + 2 * RADIUS]; HEIGHT + 2 * RADIUS])
        .fill_with(|r, c| pixel(top + r, left + c).unwrap_or(0))
        .sync();
    let (x, y, _) = thread::idx();
    let (x, y) = (x as usize, y as usize);
    if let Some(out) = out.mine() {
        *out = (y..=y + 2 * RADIUS)
            .flat_map(|row| &tile.row(row)[x..=x + 2 * RADIUS])
            .copied()
            .max()
            .unwrap_or(0);
    }
}
