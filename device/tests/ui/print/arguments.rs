//! What CUDA's printf cannot print.
use warpsmith_device::prelude::*;

struct Opaque;

fn main() {
    gpu_println!("{:x}", 1.5f32);
    gpu_println!("{:e}", 1u32);
    gpu_println!("{}", 1u128);
    gpu_println!("{}", Opaque);
    gpu_println!("{:?}", [1, 2, 3]);
    gpu_println!("{:.3}", 5u32);
}
