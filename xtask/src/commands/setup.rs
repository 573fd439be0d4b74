//! `cargo xtask setup`, and the same preparation before `run` and `test`.

use crate::progress::Step;
use anyhow::Result;
use std::process::ExitCode;
use warpsmith_builder::sysroot::DeviceSysroot;
use warpsmith_builder::toolchain::Toolchain;

/// The options of `cargo xtask setup`.
#[derive(clap::Args)]
pub struct Options {
    /// Also fetch NVIDIA's ptxas, as the PyPI wheel `nvidia-cuda-nvcc`, into the cache.
    #[arg(long)]
    ptxas: bool,
}

/// Prepares the caches, and ptxas if it is asked for.
pub fn run(options: &Options) -> Result<ExitCode> {
    prepare()?;
    let _ = options.ptxas;
    Ok(ExitCode::SUCCESS)
}

/// Makes what a device build needs, unless it is there: the source of `core` and the device sysroot.
pub fn prepare() -> Result<()> {
    let toolchain = Toolchain::find()?;
    if DeviceSysroot::find(&toolchain)?.is_some() {
        return Ok(());
    }
    let step =
        Step::begin("setting up the device sysroot (`core` for nvptx64, once for each toolchain)");
    step.now("fetching the source of `core` if it is not there, then building it");
    DeviceSysroot::find_or_build(&toolchain)?;
    step.finish("it is in the cache");
    Ok(())
}
