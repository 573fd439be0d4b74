//! A step of the heat equation in three dimensions.

use warpsmith_device::prelude::*;

/// `out` = each element, closer to its six neighbours; the border stays as it is.
#[kernel]
pub fn stencil_3d(x: &[f32], width: usize, height: usize, rate: f32, mut out: PerThread<[f32]>) {
    let i = thread::index();
    let (column, row, layer) = (i % width, i / width % height, i / (width * height));
    let depth = x.len() / (width * height);
    if let Some(out) = out.mine() {
        let own = x[i];
        let is_inside = (1..width - 1).contains(&column)
            && (1..height - 1).contains(&row)
            && (1..depth - 1).contains(&layer);
        *out = if is_inside {
            let sum = x[i - 1]
                + x[i + 1]
                + x[i - width]
                + x[i + width]
                + x[i - width * height]
                + x[i + width * height];
            own + rate * (sum - 6.0 * own)
        } else {
            own
        };
    }
}
