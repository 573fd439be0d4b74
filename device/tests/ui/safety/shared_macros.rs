//! Only the library's `shared!` becomes an object, and only what it can be.
use warpsmith_device::prelude::*;


mod other {
    macro_rules! shared {
        ([$($any:tt)*]) => {};
    }
    pub(crate) use shared;
}

#[kernel]
pub fn anothers_macro() {
    let _ = other::shared!([u32; 64]);
}

#[kernel]
#[core::prelude::v1::global_allocator]
pub fn below_the_kernel() {
    let _ = shared!([u32; 64]);
}

#[kernel]
pub fn not_an_array() {
    let _ = shared!(u32);
    let _ = shared!([u32; 64], pitch = 2);
}

#[kernel]
pub fn not_twice() {
    let _ = shared!([[u32; 8]; 8], padding = 1, 2);
}

fn main() {}
