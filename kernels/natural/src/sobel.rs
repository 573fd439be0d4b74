//! Edges of a picture, by Sobel's filter.

use warpsmith_device::prelude::*;

/// How much brightness changes at each pixel; 0 at the border.
#[kernel]
pub fn sobel(picture: Matrix<u8>, mut out: MatrixOut<u8>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        let is_inside =
            row > 0 && column > 0 && row + 1 < picture.rows() && column + 1 < picture.columns();
        *out = 0;
        if is_inside {
            let at = |dy: usize, dx: usize| i32::from(picture[(row + dy - 1, column + dx - 1)]);
            let gx = at(0, 2) + 2 * at(1, 2) + at(2, 2) - at(0, 0) - 2 * at(1, 0) - at(2, 0);
            let gy = at(2, 0) + 2 * at(2, 1) + at(2, 2) - at(0, 0) - 2 * at(0, 1) - at(0, 2);
            *out = FloatExt::sqrt((gx * gx + gy * gy) as f32).min(255.0) as u8;
        }
    }
}
