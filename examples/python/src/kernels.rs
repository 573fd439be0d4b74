//! What the device does.

use warpsmith_device::prelude::*;

/// `x[i] = a * x[i] + b`
#[kernel]
pub fn affine(a: f32, b: f32, mut x: PerThread<[f32]>) {
    if let Some(x) = x.mine() {
        *x = a * *x + b;
    }
}
