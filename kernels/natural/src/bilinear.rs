//! A picture in another size.

use warpsmith_device::prelude::*;

/// `out` = the picture, each pixel a mean of the four around its place.
#[kernel]
pub fn bilinear(picture: Matrix<f32>, mut out: MatrixOut<f32>) {
    let x_scale = picture.columns() as f32 / out.columns() as f32;
    let y_scale = picture.rows() as f32 / out.rows() as f32;
    let x = ((out.column() as f32 + 0.5) * x_scale - 0.5).max(0.0);
    let y = ((out.row() as f32 + 0.5) * y_scale - 0.5).max(0.0);
    if let Some(out) = out.mine() {
        let (left, top) = (x as usize, y as usize);
        let right = (left + 1).min(picture.columns() - 1);
        let bottom = (top + 1).min(picture.rows() - 1);
        let (fx, fy) = (x - left as f32, y - top as f32);
        let upper = picture[(top, left)] * (1.0 - fx) + picture[(top, right)] * fx;
        let lower = picture[(bottom, left)] * (1.0 - fx) + picture[(bottom, right)] * fx;
        *out = upper * (1.0 - fy) + lower * fy;
    }
}
