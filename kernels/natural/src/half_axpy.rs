//! `y += a x` in half precision.

use warpsmith_device::half::{HalfArithmetic, f16};
use warpsmith_device::prelude::*;

/// `y += a x`, an element a thread.
#[kernel]
pub fn half_axpy(a: f16, x: &[f16], mut y: PerThread<[f16]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y = a.hfma(*x, *y);
    }
}
