//! Types that an instruction does not take.
use warpsmith_device::prelude::*;
use warpsmith_device::{mem, vector};

fn main() {
    mem::load(&vector::Float3::splat(1.0));
    warp::shuffle(warp::FULL, true, 0);
}
