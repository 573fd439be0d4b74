//! A thread gets one handle to a shared object: `shared!` stands where an execution of the kernel passes once.
use warpsmith_device::prelude::*;
use warpsmith_device::shared::{SharedArray, SharedView};

fn helper() -> SharedArray<'static, u32, 64> {
    shared!([u32; 64])
}

#[kernel]
pub fn in_a_loop() {
    let mut views: [Option<SharedView<u32, 64>>; 2] = [None, None];
    for i in 0..2 {
        views[i] = Some(shared!([u32; 64]).write(i as u32).sync());
    }
}

#[kernel]
pub fn in_a_closure() {
    let buffer = || shared!([[u32; 32]; 32], padding = 1);
    let _ = (buffer(), buffer());
}

#[kernel]
pub fn in_a_guard(n: u32) {
    match (n, n) {
        (_, 7) | (7, _) if shared!([u32; 64]).write(n).sync()[0] == 1 => {}
        _ => {}
    }
}

macro_rules! buffer {
    () => {
        shared!([u32; 64])
    };
}

#[kernel]
pub fn in_a_macro() {
    let _ = loop {
        break buffer!();
    };
    let _ = core::convert::identity(buffer!());
}

#[kernel]
pub fn under_another_name() {
    use warpsmith_device::shared as smem;
    let _ = smem!([u32; 64]);
}

#[kernel]
pub fn by_recursion(n: u32) {
    let _ = shared!([u32; 64]);
    if n > 0 {
        __kernel_body(n - 1);
    }
}

#[kernel]
pub fn by_recursion_of_a_nested_function(n: u32) {
    let _ = shared!([u32; 64]);
    fn again(n: u32) {
        __kernel_body(n - 1);
    }
    again(n);
}

#[kernel]
pub fn by_the_hidden_constructor() {
    let _ = warpsmith_device::shared::new_array(core::marker::PhantomData::<[u32; 64]>, || {});
}

#[kernel]
pub fn a_handle_is_not_copied() {
    let array = shared!([u32; 64]);
    let _ = (array, array);
}

/// What the helper borrows is not used again before it is done.
#[kernel]
pub fn two_rounds_at_once() {
    let mut array = shared!([u32; 64]);
    let first = array.refill().write(1).sync();
    let second = array.refill().write(2).sync();
    let _ = first[0] + second[0];
}

/// A handle stays in its thread: nothing keeps it for another one, or for the next launch.
fn keep<T: Send + Sync>(_: T) {}

#[kernel]
pub fn sent_elsewhere() {
    keep(shared!([u32; 64]));
}

fn main() {}
