//! A picture folded with a filter of 5 x 5, through tiles in shared memory.

use warpsmith_device::prelude::*;

/// Threads of a block in each direction.
pub const SIDE: usize = 16;
/// Rows and columns of the filter.
pub const TAPS: usize = 5;
/// The side of what a block needs of the picture.
const WIDE: usize = SIDE + TAPS - 1;

/// `out` = the picture folded with the filter; beyond the border is nothing.
#[kernel(launch_bounds(16, 16, exact))]
pub fn conv_5x5(picture: Matrix<f32>, filter: [[f32; TAPS]; TAPS], mut out: MatrixOut<f32>) {
    let top = (thread::block_idx_y() as usize * SIDE) as isize - 2;
    let left = (thread::block_idx_x() as usize * SIDE) as isize - 2;
    let tile = shared!([[f32; WIDE]; WIDE])
        .fill_with(|r, c| {
            let (y, x) = (top + r as isize, left + c as isize);
            if y < 0 || x < 0 {
                return 0.0;
            }
            picture.get(y as usize, x as usize).copied().unwrap_or(0.0)
        })
        .sync();
    let (x, y, _) = thread::idx();
    if let Some(out) = out.mine() {
        let mut sum = 0.0;
        for (dy, weights) in filter.iter().enumerate() {
            let row = &tile.row(y as usize + dy)[x as usize..];
            for (weight, value) in weights.iter().zip(row) {
                sum += weight * value;
            }
        }
        *out = sum;
    }
}
