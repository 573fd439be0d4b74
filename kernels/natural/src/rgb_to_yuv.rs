//! A picture as brightness and colour.

use warpsmith_device::prelude::*;

/// `out` = each pixel of red, green and blue as Y, U and V.
#[kernel]
pub fn rgb_to_yuv(pixels: &[[u8; 3]], mut out: PerThread<[[u8; 3]]>) {
    for (pixel, (_, out)) in pixels
        .iter()
        .skip(thread::index())
        .step_by(grid::threads_x())
        .zip(out.strided())
    {
        *out = convert(*pixel);
    }
}

/// A pixel as Y, U and V.
pub fn convert([r, g, b]: [u8; 3]) -> [u8; 3] {
    let (r, g, b) = (r as i32, g as i32, b as i32);
    let y = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
    let u = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
    let v = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
    [y, u, v].map(|value| value.clamp(0, 255) as u8)
}
