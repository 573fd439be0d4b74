//! Compiles `src/kernels.rs` to PTX.

use warpsmith_builder::{Arch, CudaBuilder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ptx = std::env::var("OUT_DIR")? + "/kernels.ptx";
    CudaBuilder::for_module("src/kernels.rs")
        .arch(Arch::Sm70)
        .copy_to(ptx)
        .build()?;
    Ok(())
}
