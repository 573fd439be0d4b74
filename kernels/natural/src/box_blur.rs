//! A picture blurred by the mean of a square around each pixel.

use warpsmith_device::prelude::*;

/// `out` = the mean of the pixels that are at most `radius` away in each direction.
#[kernel]
pub fn box_blur(picture: Matrix<f32>, radius: usize, mut out: MatrixOut<f32>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        let rows = row.saturating_sub(radius)..=(row + radius).min(picture.rows() - 1);
        let columns = column.saturating_sub(radius)..=(column + radius).min(picture.columns() - 1);
        let mut sum = 0.0;
        let mut count = 0;
        for y in rows {
            for x in columns.clone() {
                sum += picture[(y, x)];
                count += 1;
            }
        }
        *out = sum / count as f32;
    }
}
