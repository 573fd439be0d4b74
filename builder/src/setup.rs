//! Fetches what device builds can use and do not need: NVIDIA's compiler tools, from PyPI.

use std::path::{Path, PathBuf};

use crate::cache;
use crate::core_source;
use crate::error::BuildError;
use crate::pip;
pub use crate::pip::PinnedWheel;
use crate::ptxas::Ptxas;
use crate::sysroot::DeviceSysroot;
use crate::toolchain::Toolchain;

/// The folder of the cache that holds NVIDIA's tools.
const TOOLS: &str = "nvidia-tools";
/// ptxas alone.
const PTXAS_PACKAGES: &[&str] = &["nvidia-cuda-nvcc"];
/// All that nvcc needs to compile CUDA C++ to PTX.
const NVCC_FOLDER: &str = "nvidia-nvcc";
const NVCC_PACKAGES: &[&str] = &[
    "nvidia-cuda-nvcc",
    "nvidia-nvvm",
    "nvidia-cuda-crt",
    "nvidia-cuda-runtime",
    "nvidia-cuda-cccl",
];

/// Makes everything ready that a device build needs: the source of `core`, and the device sysroot.
/// What is there already is kept, so a second call takes no time and no network.
pub fn device_sysroot() -> Result<DeviceSysroot, BuildError> {
    let toolchain = Toolchain::find()?;
    toolchain.llvm_library()?;
    core_source::find_or_fetch(&toolchain)?;
    DeviceSysroot::find_or_build(&toolchain)
}

/// Installs `ptxas` into the cache, from NVIDIA's wheel on PyPI, and returns it. Needs Python with pip.
pub fn ptxas() -> Result<Ptxas, BuildError> {
    let tool = install(TOOLS, PTXAS_PACKAGES, "ptxas")?;
    Ok(Ptxas::at(tool))
}

/// Installs `nvcc` into the cache, with the headers and libraries that it needs to make PTX or cubins, and
/// returns its path. Needs Python with pip.
pub fn nvcc() -> Result<PathBuf, BuildError> {
    install(NVCC_FOLDER, NVCC_PACKAGES, "nvcc")
}

/// A tool that an earlier set-up put into the cache.
pub fn installed_tool(name: &str) -> Option<PathBuf> {
    let cache = cache::folder().ok()?;
    [TOOLS, NVCC_FOLDER]
        .iter()
        .find_map(|folder| tool_in(&cache.join(folder), name))
}

fn install(folder: &str, packages: &[&str], tool: &str) -> Result<PathBuf, BuildError> {
    let made = cache::once(&cache::folder()?, folder, |temporary| {
        eprintln!("warpsmith: fetching {} from PyPI", packages.join(", "));
        pip::install(temporary, packages, &packages.join(", "))?;
        match tool_in(temporary, tool) {
            Some(_) => Ok(()),
            None => Err(BuildError::Setup(format!(
                "the package {} holds no `{tool}`",
                packages[0]
            ))),
        }
    })?;
    tool_in(&made, tool).ok_or_else(|| {
        BuildError::Setup(format!(
            "{} is damaged: delete it and run the set-up again",
            made.display()
        ))
    })
}

/// `nvidia/cu13/bin/NAME` or the like: the folder's name changes from release to release.
fn tool_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    for _depth in 0..4 {
        if let Some(found) = folders
            .iter()
            .map(|f| f.join("bin").join(name))
            .find(|p| p.is_file())
        {
            return Some(found);
        }
        folders = folders
            .iter()
            .filter_map(|f| std::fs::read_dir(f).ok())
            .flat_map(|entries| entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()))
            .collect();
    }
    None
}
