//! Builds the natural kernels' PTX as a user's project does: with the panic messages that are the default.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use warpsmith_builder::{Arch, CudaBuilder};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    CudaBuilder::new("..")
        .arch(Arch::Sm90)
        .copy_to(out.join("natural.ptx"))
        .build()?;
    Ok(())
}
