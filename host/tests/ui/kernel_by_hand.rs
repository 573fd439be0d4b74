//! What a launch passes is for `#[kernel]` to say: an implementation by hand would be one that safe code must not write.
#![forbid(unsafe_code)]

use warpsmith_device::launch::{In, Kernel, KernelAttributes, SafeKernel};

#[derive(Clone, Copy)]
struct Fake;

impl Kernel for Fake {
    type Parameters = (In<f32>,);
    const NAME: &'static str = "saxpy";
    const RECORD: &'static [u32] = &[];
    const ATTRIBUTES: KernelAttributes = KernelAttributes {
        max_threads: None,
        exact: false,
        min_blocks: None,
        max_registers: None,
        cluster: None,
        max_cluster: None,
        launch_dimensions: 3,
    };
    const SAFE: bool = true;
}

impl SafeKernel for Fake {}

fn main() {}
