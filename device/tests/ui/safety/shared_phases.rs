//! Shared memory is read after the barrier only, and written before it only.
use warpsmith_device::prelude::*;

#[kernel]
pub fn reads_before_the_barrier(x: &[u32]) {
    let filled = shared!([u32; 64]).write(x[0]);
    let _ = filled[0];
}

#[kernel]
pub fn writes_twice(x: &[u32]) {
    let array = shared!([u32; 64]);
    let _first = array.write(x[0]).sync();
    let _second = array.write(x[1]);
}

#[kernel]
pub fn keeps_a_reference_over_a_barrier(x: &[u32]) {
    let view = shared!([u32; 64]).write(x[0]).sync();
    let kept = &view[3];
    let _next = view.sync().write(*kept + 1);
    let _ = *kept;
}

#[kernel]
pub fn writes_through_a_view(x: &[u32]) {
    let mut view = shared!([u32; 64]).write(x[0]).sync();
    view[0] = 1;
}

#[kernel]
pub fn shares_what_is_not_shareable(x: &[u32]) {
    let cell = core::cell::Cell::new(x[0]);
    let _ = shared!([*const u32; 64]).write(x.as_ptr());
    let _ = cell;
}

fn main() {}
