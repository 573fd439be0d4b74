//! `y += a x`.

use warpsmith_device::prelude::*;

/// `y += a x`, an element a thread.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y += a * x;
    }
}
