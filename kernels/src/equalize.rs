//! Histogram equalisation of a picture: the steps around [`histogram`](crate::histogram) and [`scan`](crate::scan).

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// The brightness of red, green and blue: ITU-R BT.601's luma, rounded, in integers.
fn luma([red, green, blue, _]: [u8; 4]) -> u8 {
    ((u32::from(red) * 77 + u32::from(green) * 150 + u32::from(blue) * 29 + 128) >> 8) as u8
}

/// `brightness[i] :=` the brightness of pixel `i`, whose bytes are red, green, blue, alpha.
#[kernel(launch_bounds(256))]
pub fn brightness(pixels: &[[u8; 4]], mut brightness: PerThread<[u8]>) {
    if let (Some(&pixel), Some(brightness)) = (pixels.get(thread::index()), brightness.mine()) {
        *brightness = luma(pixel);
    }
}

/// Maps every pixel's brightness `v` to the share of pixels that are no brighter, and scales its colours alike, so that all
/// brightnesses occur about equally often. `cumulative[v]` counts the pixels of brightness at most `v`.
#[kernel(launch_bounds(256))]
pub fn remap(cumulative: &[u32], mut pixels: PerThread<[[u8; 4]]>) {
    let Some(pixel) = pixels.mine() else { return };
    let old = luma(*pixel);
    let (Some(&all), Some(&upto)) = (cumulative.last(), cumulative.get(usize::from(old))) else {
        return;
    };
    // The darkest value that occurs becomes black: the pixels of that value are left out of the count.
    let mut darkest = 0;
    while cumulative.get(darkest).is_some_and(|&count| count == 0) {
        darkest += 1;
    }
    let lowest = cumulative.get(darkest).copied().unwrap_or(0);
    if all == lowest {
        return; // One brightness only: there is nothing to spread.
    }
    let new = (u64::from(upto - lowest) * 255 / u64::from(all - lowest)) as u32;
    for colour in &mut pixel[..3] {
        let scaled = match u32::from(old) {
            0 => new,
            old => (u32::from(*colour) * new + old / 2) / old,
        };
        *colour = scaled.min(255) as u8;
    }
}
