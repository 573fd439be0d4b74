//! `y += a x` by a grid that is smaller than the vectors.

use warpsmith_device::prelude::*;

/// `y += a x`, several elements a thread.
#[kernel]
pub fn saxpy_strided(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    for (i, y) in y.strided() {
        *y += a * x[i];
    }
}
