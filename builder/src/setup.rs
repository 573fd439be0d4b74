//! Fetches what device builds can use and do not need: NVIDIA's compiler tools, from PyPI.

use crate::admission;
use crate::core_source;
use crate::error::BuildError;
use crate::nvidia_tools;
pub use crate::nvidia_tools::installed_tool;
pub use crate::pip::PinnedWheel;
use crate::ptxas::Ptxas;
use crate::sysroot::DeviceSysroot;
use crate::toolchain::Toolchain;

/// Makes everything ready that a device build needs: the source of `core`, and the device sysroot.
/// What is there already is kept, so a second call takes no time and no network.
pub fn device_sysroot() -> Result<DeviceSysroot, BuildError> {
    let toolchain = Toolchain::find()?;
    toolchain.llvm_library()?;
    core_source::find_or_fetch(&toolchain)?;
    let sysroot = DeviceSysroot::find_or_build(&toolchain)?;
    admission::admit(&toolchain)?;
    Ok(sysroot)
}

/// Installs `ptxas` into the cache, from NVIDIA's wheel on PyPI, and returns it. Needs Python with pip.
pub fn ptxas() -> Result<Ptxas, BuildError> {
    let tool = nvidia_tools::install(&nvidia_tools::PTXAS)?;
    Ok(Ptxas::at(tool))
}
