//! NVIDIA's assembler, where there is one: checks PTX and reports registers, stack and spills per kernel.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arch::Arch;
use crate::cache;
use crate::environment;
use crate::error::{BuildError, IoContext};
use crate::names;
use crate::nvidia_tools;

/// A `ptxas` program.
#[derive(Debug, Clone)]
pub struct Ptxas {
    path: PathBuf,
}

/// What `ptxas -v` says of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct KernelUsage {
    /// The entry's name.
    pub name: String,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of stack per thread, of the kernel itself.
    pub stack: u32,
    /// Bytes stored to spill registers.
    pub spill_stores: u32,
    /// Bytes loaded from spilled registers.
    pub spill_loads: u32,
    /// Bytes of static shared memory.
    pub shared: u32,
    /// Bytes of parameters and other constants.
    pub constant: u32,
    /// Barriers.
    pub barriers: u32,
}

/// What ptxas says of a module that it accepts.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PtxasReport {
    /// One entry per kernel.
    pub kernels: Vec<KernelUsage>,
    /// Its warnings.
    pub warnings: Vec<String>,
    /// The cubin.
    pub image: Vec<u8>,
}

impl Ptxas {
    /// Looks in `$WARPSMITH_PTXAS`, `PATH`, `$CUDA_HOME`, `$CUDA_PATH`, `/usr/local/cuda` and the cache.
    pub fn find() -> Option<Ptxas> {
        if let Some(path) = environment::ptxas() {
            return Some(Ptxas { path });
        }
        environment::program_folders()
            .into_iter()
            .map(|folder| folder.join("ptxas"))
            .chain(nvidia_tools::installed_tool("ptxas"))
            .find(|path| path.is_file())
            .map(|path| Ptxas { path })
    }

    /// A certain program.
    pub fn at(path: impl Into<PathBuf>) -> Ptxas {
        Ptxas { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version, as in `13.0`.
    pub fn version(&self) -> Result<String, BuildError> {
        let output = Command::new(&self.path)
            .arg("--version")
            .output()
            .context("cannot run", &self.path)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let release = text
            .split("release ")
            .nth(1)
            .and_then(|t| t.split([',', '\n']).next())
            .unwrap_or("unknown");
        Ok(release.trim().to_owned())
    }

    /// Assembles `ptx` for `arch` and discards the result. An error says what ptxas rejects.
    pub fn check(&self, ptx: &str, arch: Arch) -> Result<Vec<KernelUsage>, BuildError> {
        Ok(self.report(ptx, arch)?.kernels)
    }

    /// As [`Ptxas::check`], with ptxas's warnings, of a stack whose size it cannot compute, say; and with the machine code.
    pub fn report(&self, ptx: &str, arch: Arch) -> Result<PtxasReport, BuildError> {
        let folder = tempfile::tempdir().context("cannot create", std::env::temp_dir())?;
        let input = folder.path().join("kernels.ptx");
        std::fs::write(&input, ptx).context("cannot write", &input)?;
        let cubin = folder.path().join("kernels.cubin");
        let run = |arch: &str| {
            Command::new(&self.path)
                .arg("--verbose")
                .arg(format!("--gpu-name={arch}"))
                .arg(&input)
                .arg("--output-file")
                .arg(&cubin)
                .output()
                .context("cannot run", &self.path)
        };
        let mut output = run(arch.name())?;
        let text =
            |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
        // ptxas 13 no longer makes code for Volta; PTX for it is still good for what came later.
        if !output.status.success() && arch < Arch::Sm75 && text(&output).contains("gpu-name") {
            output = run(Arch::Sm75.name())?;
        }
        let text = text(&output);
        if output.status.success() {
            let is_warning = |line: &&str| line.starts_with("ptxas") && line.contains("warning");
            let warnings = text
                .lines()
                .filter(is_warning)
                .map(|l| l.split_once(": ").map_or(l, |(_, w)| w).to_owned());
            return Ok(PtxasReport {
                warnings: warnings
                    .map(|warning| names::demangle_words(&warning))
                    .collect(),
                kernels: parse(&text),
                image: std::fs::read(&cubin).context("cannot read", &cubin)?,
            });
        }
        let reason: Vec<&str> = text.lines().filter(|l| !l.contains("info")).collect();
        Err(BuildError::Ptxas {
            message: names::demangle_words(&reason.join("\n"))
                .replace(&*input.to_string_lossy(), "kernels.ptx"),
        })
    }
}

/// Parses what `--verbose` prints.
fn parse(text: &str) -> Vec<KernelUsage> {
    let mut kernels: Vec<KernelUsage> = Vec::new();
    let mut of_kernel = false;
    for line in text.lines() {
        let line = line
            .strip_prefix("ptxas info")
            .map(|l| l.trim_start_matches([' ', ':']))
            .unwrap_or(line)
            .trim();
        if let Some(rest) = line.strip_prefix("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(KernelUsage {
                name,
                ..KernelUsage::default()
            });
            continue;
        }
        let Some(kernel) = kernels.last_mut() else {
            continue;
        };
        if let Some(name) = line.strip_prefix("Function properties for ") {
            of_kernel = name == kernel.name;
        }
        for part in line.split(',') {
            let words: Vec<&str> = part.split_whitespace().collect();
            let number = |at: usize| {
                words
                    .get(at)
                    .and_then(|w| w.parse::<u32>().ok())
                    .unwrap_or(0)
            };
            match words[..] {
                [_, "bytes", "stack", "frame"] if of_kernel => kernel.stack = number(0),
                [_, "bytes", "spill", "stores"] if of_kernel => kernel.spill_stores = number(0),
                [_, "bytes", "spill", "loads"] if of_kernel => kernel.spill_loads = number(0),
                ["Used", _, "registers"] => kernel.registers = number(1),
                ["used", _, "barriers"] => kernel.barriers = number(1),
                [_, "bytes", "smem"] => kernel.shared = number(0),
                [_, "bytes", bank] if bank.starts_with("cmem[") => kernel.constant += number(0),
                _ => {}
            }
        }
    }
    kernels
}

/// The cache folder's part in finding ptxas (for `doctor`).
pub(crate) fn search_hint() -> String {
    let cache = cache::folder()
        .map(|c| c.display().to_string())
        .unwrap_or_default();
    format!("not on PATH, in CUDA_HOME, /usr/local/cuda or {cache}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_verbose_output() {
        let text = "\
ptxas info    : 24 bytes gmem
ptxas info    : Compiling entry function 'recursion' for 'sm_90a'
ptxas info    : Function properties for recursion
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 8 bytes cumulative stack size, 256 bytes smem, 380 bytes cmem[0]
ptxas info    : Function properties for helper
    99 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads
ptxas info    : Compiling entry function 'saxpy' for 'sm_90a'
ptxas info    : Function properties for saxpy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
";
        let kernels = parse(text);
        assert_eq!(kernels.len(), 2);
        assert_eq!(
            kernels[0],
            KernelUsage {
                name: "recursion".into(),
                registers: 24,
                stack: 8,
                spill_stores: 4,
                spill_loads: 12,
                shared: 256,
                constant: 380,
                barriers: 1,
            }
        );
        assert_eq!((kernels[1].registers, kernels[1].stack), (10, 0));
    }
}
