//! NVIDIA's compiler for CUDA C++ and its disassembler, from PyPI: what kernels are compared with.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::arch::Arch;
use crate::error::{BuildError, IoContext};
use crate::nvidia_tools;
use crate::parallel::in_parallel;
use crate::ptxas::Ptxas;

/// nvcc, its ptxas, and nvdisasm.
#[derive(Debug, Clone)]
pub struct Nvcc {
    nvcc: PathBuf,
    nvdisasm: PathBuf,
}

impl Nvcc {
    /// The tools of the cache, fetched if they are not there. Needs Python with pip then; compiling needs a C++ compiler.
    ///
    /// # Errors
    ///
    /// pip is not there or cannot reach PyPI.
    pub fn find_or_fetch() -> Result<Nvcc, BuildError> {
        Ok(Nvcc {
            nvcc: nvidia_tools::install(&nvidia_tools::NVCC)?,
            nvdisasm: nvidia_tools::install(&nvidia_tools::NVDISASM)?,
        })
    }

    /// The ptxas that came with it, which knows the PTX that it writes.
    pub fn ptxas(&self) -> Ptxas {
        Ptxas::at(self.nvcc.with_file_name("ptxas"))
    }

    /// The PTX of files of CUDA C++, in their order.
    ///
    /// # Errors
    ///
    /// nvcc rejects one of them; the error says what it wrote.
    pub fn ptx(&self, sources: &[PathBuf], arch: Arch) -> Result<Vec<String>, BuildError> {
        in_parallel(sources, |source| self.ptx_of(source, arch))
            .into_iter()
            .collect()
    }

    fn ptx_of(&self, source: &Path, arch: Arch) -> Result<String, BuildError> {
        let folder = tempfile::tempdir().context("cannot create", std::env::temp_dir())?;
        let target = folder.path().join("twin.ptx");
        let mut command = Command::new(&self.nvcc);
        command
            .args(["-O3", "-ptx", "-arch", arch.name(), "-o"])
            .arg(&target)
            .arg(source);
        output(command, &self.nvcc, "nvcc", source)?;
        std::fs::read_to_string(&target).context("cannot read", &target)
    }

    /// The machine code of a cubin as text, with labels.
    ///
    /// # Errors
    ///
    /// nvdisasm rejects it.
    pub fn disassemble(&self, cubin: &[u8]) -> Result<String, BuildError> {
        let folder = tempfile::tempdir().context("cannot create", std::env::temp_dir())?;
        let file = folder.path().join("kernels.cubin");
        std::fs::write(&file, cubin).context("cannot write", &file)?;
        let mut command = Command::new(&self.nvdisasm);
        command.arg("--print-code").arg(&file);
        let output = output(command, &self.nvdisasm, "nvdisasm", &file)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Runs a tool on a file, which it must accept.
fn output(
    mut command: Command,
    path: &Path,
    tool: &'static str,
    file: &Path,
) -> Result<Output, BuildError> {
    let output = command.output().context("cannot run", path)?;
    if output.status.success() {
        return Ok(output);
    }
    Err(BuildError::Rejected {
        tool,
        file: file.to_path_buf(),
        message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}
