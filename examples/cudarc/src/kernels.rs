//! What the device does.

use warpsmith_device::prelude::*;

/// `x[i] *= factor`
#[kernel]
pub fn scale(factor: f32, mut x: PerThread<[f32]>) {
    if let Some(x) = x.mine() {
        *x *= factor;
    }
}
