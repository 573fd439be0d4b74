//! Only a kernel's parameters are views.
use warpsmith_device::prelude::*;

fn main() {
    let mut view: PerThread<'static, [u32]> =
        PerThread { pointer: core::ptr::null_mut(), length: 1, slice: core::marker::PhantomData };
    view.mine();
}
