//! The product of two matrices, through tiles in shared memory.

use warpsmith_device::prelude::*;

/// Rows and columns of a tile.
pub const TILE: usize = 16;

/// `c` = `a` times `b`.
#[kernel(launch_bounds(16, 16, exact))]
pub fn matmul_tiled(a: Matrix<f32>, b: Matrix<f32>, mut c: MatrixOut<f32>) {
    let (x, y, _) = thread::idx();
    let (x, y) = (x as usize, y as usize);
    let (row, column) = (c.row() - y, c.column() - x);
    let mut tile_a = shared!([[f32; TILE]; TILE]);
    let mut tile_b = shared!([[f32; TILE]; TILE]);
    let mut sum = 0.0;
    for start in (0..a.columns()).step_by(TILE) {
        let a = tile_a
            .refill()
            .fill_with(|i, j| a.get(row + i, start + j).copied().unwrap_or(0.0))
            .sync();
        let b = tile_b
            .refill()
            .fill_with(|i, j| b.get(start + i, column + j).copied().unwrap_or(0.0))
            .sync();
        for k in 0..TILE {
            sum += a[(y, k)] * b[(k, x)];
        }
    }
    if let Some(c) = c.mine() {
        *c = sum;
    }
}
