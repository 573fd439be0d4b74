//! The Mandelbrot set.

use warpsmith_device::prelude::*;

/// How often each point of a picture can be squared before it leaves the circle; the picture begins at `(x, y)`.
#[kernel]
pub fn mandelbrot(x: f32, y: f32, step: f32, limit: u32, mut out: MatrixOut<u32>) {
    let (cx, cy) = (x + out.column() as f32 * step, y + out.row() as f32 * step);
    if let Some(out) = out.mine() {
        let (mut zx, mut zy) = (0.0f32, 0.0f32);
        let mut count = 0;
        while count < limit && zx * zx + zy * zy < 4.0 {
            (zx, zy) = (zx * zx - zy * zy + cx, 2.0 * zx * zy + cy);
            count += 1;
        }
        *out = count;
    }
}
