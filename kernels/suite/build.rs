//! Builds the kernels' PTX, twice: the suite's own, and the kernels that are wrong on purpose.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use warpsmith_builder::{CudaBuilder, PanicStrategy};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // The suite is compared with CUDA C++, which has no bounds checks to report from: a panic that should not happen
    // is a trap, which costs a branch and nothing else. The simulator reports the location all the same.
    let arch = env::var("WARPSMITH_SUITE_ARCH").unwrap_or_else(|_| "sm_90".into());
    println!("cargo::rerun-if-env-changed=WARPSMITH_SUITE_ARCH");
    let kernels = || -> Result<CudaBuilder, Box<dyn Error>> {
        Ok(CudaBuilder::new("..")
            .arch(arch.parse()?)
            .panic(PanicStrategy::Trap))
    };
    kernels()?.copy_to(out.join("kernels.ptx")).build()?;
    kernels()?
        .feature("broken")
        .copy_to(out.join("broken.ptx"))
        .build()?;
    Ok(())
}
