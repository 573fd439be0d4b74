//! `cargo xtask setup`, and the same preparation before `run` and `test`.

use crate::progress::Step;
use anyhow::Result;
use std::process::ExitCode;
use warpsmith_builder::ptxas::Ptxas;
use warpsmith_builder::setup;
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
    eprintln!("   ok the device sysroot is in the cache");
    if options.ptxas {
        let ptxas = match Ptxas::find() {
            Some(ptxas) => ptxas,
            None => {
                let step = Step::begin("fetching ptxas (PyPI's `nvidia-cuda-nvcc`)");
                let ptxas = setup::ptxas()?;
                step.finish("it is in the cache");
                ptxas
            }
        };
        eprintln!("   ok {}: {}", ptxas.path().display(), ptxas.version()?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes what a device build needs, unless it is there: the source of `core` and the device sysroot.
pub fn prepare() -> Result<()> {
    let toolchain = Toolchain::find()?;
    if DeviceSysroot::find(&toolchain)?.is_some() {
        return Ok(());
    }
    let step = Step::begin("setting up the device sysroot");
    step.now(
        "`core` for nvptx64, once for each toolchain; its source is fetched if it is not there",
    );
    setup::device_sysroot()?;
    step.finish("it is in the cache");
    Ok(())
}
