//! A picture blurred by a bell curve: along rows, then along columns.

use warpsmith_device::prelude::*;

/// Threads of a block in each direction.
const SIDE: usize = 16;
/// How far the blur reaches.
const RADIUS: usize = 4;
/// The side of what a block needs of the picture.
const WIDE: usize = SIDE + 2 * RADIUS;

/// `out` = the picture, blurred with these weights in both directions; beyond the border it goes on as at the border.
#[kernel(launch_bounds(16, 16, exact))]
pub fn separable_blur(picture: Matrix<f32>, weights: [f32; 9], mut out: MatrixOut<f32>) {
    let top = thread::block_idx_y() as usize * SIDE;
    let left = thread::block_idx_x() as usize * SIDE;
    let near = |place: usize, length: usize| place.saturating_sub(RADIUS).min(length - 1);
    let tile = shared!([[f32; WIDE]; WIDE])
        .fill_with(|r, c| {
            let row = near(top + r, picture.rows());
            let column = near(left + c, picture.columns());
            picture[(row, column)]
        })
        .sync();
    let along_rows = shared!([[f32; SIDE]; WIDE])
        .fill_with(|r, c| weighted(&weights, &tile.row(r)[c..]))
        .sync();
    let (y, x) = (
        thread::thread_idx_y() as usize,
        thread::thread_idx_x() as usize,
    );
    if let Some(out) = out.mine() {
        let mut sum = 0.0;
        for (i, weight) in weights.iter().enumerate() {
            sum += weight * along_rows[(y + i, x)];
        }
        *out = sum;
    }
}

/// The sum of as many values as there are weights.
fn weighted(weights: &[f32], values: &[f32]) -> f32 {
    weights
        .iter()
        .zip(values)
        .map(|(weight, value)| weight * value)
        .sum()
}
