//! NVIDIA's compiler tools in the cache, from NVIDIA's wheels on PyPI.

use std::path::{Path, PathBuf};

use crate::cache;
use crate::error::BuildError;
use crate::pip;

/// A tool, the packages that it is installed from, and the folder of the cache that they share.
pub(crate) struct Tool {
    name: &'static str,
    folder: &'static str,
    packages: &'static [&'static str],
}

/// ptxas alone.
pub(crate) const PTXAS: Tool = Tool {
    name: "ptxas",
    folder: "nvidia-tools",
    packages: &["nvidia-cuda-nvcc"],
};

/// nvcc, with all that it needs to compile CUDA C++ to PTX.
pub(crate) const NVCC: Tool = Tool {
    name: "nvcc",
    folder: "nvidia-nvcc",
    packages: &[
        "nvidia-cuda-nvcc",
        "nvidia-nvvm",
        "nvidia-cuda-crt",
        "nvidia-cuda-runtime",
        "nvidia-cuda-cccl",
    ],
};

/// nvdisasm alone.
pub(crate) const NVDISASM: Tool = Tool {
    name: "nvdisasm",
    folder: "nvidia-nvdisasm",
    packages: &["nvidia-cuda-nvdisasm"],
};

/// A tool that an earlier set-up put into the cache.
pub fn installed_tool(name: &str) -> Option<PathBuf> {
    let cache = cache::folder().ok()?;
    [PTXAS, NVCC, NVDISASM]
        .iter()
        .find_map(|tool| tool_in(&cache.join(tool.folder), name))
}

/// Installs a tool, unless it is there, and returns its path.
pub(crate) fn install(tool: &Tool) -> Result<PathBuf, BuildError> {
    let made = cache::once(&cache::folder()?, tool.folder, |temporary| {
        eprintln!("warpsmith: fetching {} from PyPI", tool.packages.join(", "));
        pip::install(temporary, tool.packages, &tool.packages.join(", "))?;
        match tool_in(temporary, tool.name) {
            Some(_) => Ok(()),
            None => Err(BuildError::Setup(format!(
                "the package {} holds no `{}`",
                tool.packages[0], tool.name
            ))),
        }
    })?;
    tool_in(&made, tool.name).ok_or_else(|| {
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
