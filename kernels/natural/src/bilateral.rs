//! A picture smoothed where it has no edges.

use warpsmith_device::prelude::*;

/// How far the filter reaches.
pub const RADIUS: isize = 3;

/// `out` = the mean of the pixels around each, the nearer and the more alike the heavier.
#[kernel]
pub fn bilateral(picture: Matrix<f32>, near: f32, alike: f32, mut out: MatrixOut<f32>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        let centre = picture[(row, column)];
        let mut sum = 0.0;
        let mut total = 0.0;
        for dy in -RADIUS..=RADIUS {
            for dx in -RADIUS..=RADIUS {
                let place = row
                    .checked_add_signed(dy)
                    .zip(column.checked_add_signed(dx));
                if let Some(&pixel) = place.and_then(|(y, x)| picture.get(y, x)) {
                    let difference = pixel - centre;
                    let squares = (dy * dy + dx * dx) as f32;
                    let weight = (-squares * near - difference * difference * alike).exp_approx();
                    sum += weight * pixel;
                    total += weight;
                }
            }
        }
        *out = sum / total;
    }
}
