//! A picture whose greys are spread over the whole range.

use warpsmith_device::prelude::*;

/// `out` = the new grey of each pixel; `cumulative[g]` is how many pixels are as dark as `g` or darker.
#[kernel]
pub fn equalize(pixels: &[u8], cumulative: &[u32], darkest: u32, mut out: PerThread<[u8]>) {
    let total = pixels.len() as u32;
    for (i, out) in out.strided() {
        let rank = cumulative[usize::from(pixels[i])] - darkest;
        *out = (rank as f32 * 255.0 / (total - darkest) as f32) as u8;
    }
}
