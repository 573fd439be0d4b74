//! The CUDA C++ twins: found as source, compiled by the nvcc on the PATH, loaded as machine code.
//!
//! The source is looked for in `$WARPSMITH_TWINS`, then beside the program (a bundle carries it there), then in the
//! source tree.

use crate::session::Session;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use warpsmith_host::ComputeCapability;

/// The folder with the twins' source.
pub fn folder() -> Result<PathBuf> {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.join("twins")));
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../twins");
    let candidates = [
        std::env::var_os("WARPSMITH_TWINS").map(PathBuf::from),
        beside,
        Some(tree),
    ];
    candidates
        .into_iter()
        .flatten()
        .find(|folder| folder.join("saxpy.cu").is_file())
        .context("cannot find the CUDA C++ twins: set WARPSMITH_TWINS to the folder with saxpy.cu")
}

/// nvcc's version line, or an error that says what to do.
pub fn compiler() -> Result<String> {
    let output = Command::new("nvcc").arg("--version").output().context(
        "there is no nvcc on the PATH, so the CUDA C++ twins cannot be built: install the CUDA toolkit, add its `bin` to the \
         PATH, or run without twins (`--no-twins`)",
    )?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find(|line| line.contains("release"))
        .unwrap_or("nvcc of unknown version");
    Ok(line.trim().to_owned())
}

/// Compiles the twin `stem` for the session's device and adds it to the session.
pub fn load(session: &mut Session, stem: &str) -> Result<()> {
    if session.has_twin(stem) {
        return Ok(());
    }
    let source = folder()?.join(format!("{stem}.cu"));
    let ComputeCapability { major, minor } = session.gpu.compute_capability();
    let work = tempfile::tempdir().context("cannot make a temporary folder")?;
    // A kernel that calls the device runtime is left as PTX, for the driver to link; the others become machine code.
    let text = std::fs::read_to_string(&source)
        .with_context(|| format!("cannot read {}", source.display()))?;
    let as_ptx = text.contains("cudaGraphSetConditional") || session.gpu.is_simulator();
    let target = work
        .path()
        .join(if as_ptx { "twin.ptx" } else { "twin.cubin" });
    let mut nvcc = Command::new("nvcc");
    nvcc.arg(format!("-arch=sm_{major}{minor}")).arg("-O3");
    nvcc.args(if as_ptx {
        &["-rdc=true", "-ptx"][..]
    } else {
        &["-cubin"][..]
    });
    let output = nvcc
        .arg("-o")
        .arg(&target)
        .arg(&source)
        .output()
        .context("cannot start nvcc")?;
    if !output.status.success() {
        bail!(
            "nvcc rejects {}:\n{}",
            source.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let module = if as_ptx {
        session.gpu.load(&std::fs::read_to_string(&target)?)?
    } else {
        let image = std::fs::read(&target)?;
        // SAFETY: nvcc has just made this image, and said that it succeeded.
        unsafe { session.gpu.load_binary(&image)? }
    };
    session.add_twin(stem, module);
    Ok(())
}
