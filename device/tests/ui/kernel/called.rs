//! A kernel is not a function to call.
use warpsmith_device::prelude::*;

#[kernel]
pub fn fill(value: f32, mut y: PerThread<[f32]>) {
    if let Some(y) = y.mine() {
        *y = value;
    }
}

#[kernel]
pub fn caller(x: &[f32]) {
    fill(1.0, x);
}

fn main() {}
