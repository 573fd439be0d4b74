//! An output view gives one exclusive reference at a time.
use warpsmith_device::prelude::*;

#[kernel]
pub fn two_at_once(mut y: PerThread<[u32]>) {
    if let (Some(a), Some(b)) = (y.mine(), y.mine()) {
        core::mem::swap(a, b);
    }
}

#[kernel]
pub fn copies_the_view(y: PerThread<[u32]>) {
    let (mut a, mut b) = (y, y);
    let _ = (a.mine(), b.mine());
}

#[kernel]
pub fn writes_an_input(x: &[u32]) {
    x[0] = 1;
}

fn main() {}
