// What a fragment's registers mean is the architecture's own.
use warpsmith_device::prelude::*;
use warpsmith_device::wmma::{Accumulator, M16N16K16};

#[kernel]
pub fn takes(tile: Accumulator<f32, M16N16K16>) {
    let _ = tile;
}

fn main() {}
