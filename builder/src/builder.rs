//! [`CudaBuilder`]: the options of a device build, and the build itself.

use std::path::{Path, PathBuf};

use crate::arch::{Arch, PtxVersion};
use crate::cache;
use crate::device_crate::{self, Invocation};
use crate::error::{BuildError, IoContext};
use crate::linker::{self, FloatOptions, LinkJob};
use crate::sysroot::DeviceSysroot;
use crate::toolchain::Toolchain;

/// Compiles a kernel crate to PTX.
///
/// ```no_run
/// // build.rs
/// use warpsmith_builder::{Arch, CudaBuilder};
///
/// CudaBuilder::new("kernels")
///     .arch(Arch::Sm80)
///     .copy_to(format!("{}/kernels.ptx", std::env::var("OUT_DIR").unwrap()))
///     .build()
///     .unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct CudaBuilder {
    path: PathBuf,
    arch: Arch,
    ptx_version: Option<PtxVersion>,
    panic: PanicStrategy,
    after_panic: AfterPanic,
    float: FloatOptions,
    copy_to: Option<PathBuf>,
    cfgs: Vec<String>,
    features: Vec<String>,
    default_features: bool,
}

/// What a panic in a kernel tells the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PanicStrategy {
    /// The message and the location.
    #[default]
    Message,
    /// The location only: no formatting code in the kernel.
    Location,
    /// Nothing: a bare `trap`.
    Trap,
}

/// What a thread does after it has reported a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AfterPanic {
    /// It ends; the other threads go on, and the context stays usable.
    #[default]
    Exit,
    /// It stops the whole grid. The context is lost.
    Trap,
}

/// The PTX of a kernel crate.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PtxOutput {
    /// The text.
    pub ptx: String,
    /// All source files that went into it.
    pub sources: Vec<PathBuf>,
    /// rustc's warnings, as it printed them.
    pub warnings: String,
}

impl CudaBuilder {
    /// For the kernel crate in folder `path`. Relative paths start at the manifest's folder in a build script,
    /// else at the current folder.
    pub fn new(path: impl AsRef<Path>) -> CudaBuilder {
        CudaBuilder {
            path: path.as_ref().to_path_buf(),
            arch: Arch::Sm70,
            ptx_version: None,
            panic: PanicStrategy::default(),
            after_panic: AfterPanic::default(),
            float: FloatOptions {
                fmad: true,
                ftz: false,
                approximate_division: false,
                approximate_square_root: false,
            },
            copy_to: None,
            cfgs: Vec::new(),
            features: Vec::new(),
            default_features: true,
        }
    }

    /// The architecture. Default: `sm_70`, which runs on everything from Volta on.
    pub fn arch(mut self, arch: Arch) -> Self {
        self.arch = arch;
        self
    }

    /// The PTX version. Default: the oldest that has what the kernels use.
    pub fn ptx_version(mut self, version: PtxVersion) -> Self {
        self.ptx_version = Some(version);
        self
    }

    /// What a panic tells the host.
    pub fn panic(mut self, strategy: PanicStrategy) -> Self {
        self.panic = strategy;
        self
    }

    /// What a thread does after a panic.
    pub fn after_panic(mut self, after: AfterPanic) -> Self {
        self.after_panic = after;
        self
    }

    /// Whether `a * b + c` becomes one `fma` with one rounding, as nvcc does. Default: on. A kernel overrides it
    /// with `#[kernel(fmad = false)]`.
    pub fn fmad(mut self, on: bool) -> Self {
        self.float.fmad = on;
        self
    }

    /// Whether subnormal `f32` numbers are flushed to zero (nvcc's `-ftz`). Default: off.
    pub fn ftz(mut self, on: bool) -> Self {
        self.float.ftz = on;
        self
    }

    /// Whether `f32` division may be approximate (nvcc's `-prec-div=false`): 2 ulp. Default: off.
    pub fn approximate_division(mut self, on: bool) -> Self {
        self.float.approximate_division = on;
        self
    }

    /// Whether `f32` square roots may be approximate (nvcc's `-prec-sqrt=false`). Default: off.
    pub fn approximate_square_root(mut self, on: bool) -> Self {
        self.float.approximate_square_root = on;
        self
    }

    /// All of nvcc's `-use_fast_math` that concerns translation: flush to zero, approximate division and
    /// square root.
    pub fn fast_math(self, on: bool) -> Self {
        self.ftz(on)
            .approximate_division(on)
            .approximate_square_root(on)
    }

    /// Also writes the PTX to this file.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_path_buf());
        self
    }

    /// Sets a `cfg` for all device crates: `name` or `name="value"`.
    pub fn cfg(mut self, cfg: impl Into<String>) -> Self {
        self.cfgs.push(cfg.into());
        self
    }

    /// Turns on a feature of the kernel crate.
    pub fn feature(mut self, feature: impl Into<String>) -> Self {
        self.features.push(feature.into());
        self
    }

    /// Whether the kernel crate's default features are on.
    pub fn default_features(mut self, on: bool) -> Self {
        self.default_features = on;
        self
    }

    /// Compiles, links and, in a build script, tells cargo which files to watch.
    pub fn build(self) -> Result<PtxOutput, BuildError> {
        let toolchain = Toolchain::find()?;
        let llvm = toolchain.llvm_library()?;
        let sysroot = DeviceSysroot::find_or_build(&toolchain)?;
        let manifest = self.manifest()?;
        let target = cache::folder()?.join("target").join(toolchain.key());

        let mut invocation = Invocation::new(&toolchain, &manifest, &target);
        invocation.rustflags = self.rustflags(&sysroot);
        if !self.default_features {
            invocation.arguments.push("--no-default-features".into());
        }
        if !self.features.is_empty() {
            invocation
                .arguments
                .extend(["--features".into(), self.features.join(",")]);
        }
        let built = invocation.run()?;

        let job = LinkJob {
            llvm: &llvm,
            crates: &built.archives,
            libraries: &sysroot.libraries,
            arch: self.arch,
            ptx_version: self.ptx_version,
            float: self.float,
        };
        let ptx = linker::link(&job)?;
        let sources = device_crate::sources(
            built
                .archives
                .last()
                .expect("cargo names the crate it built"),
        )?;
        if let Some(path) = &self.copy_to {
            cache::write_atomically(path, ptx.as_bytes())?;
        }
        if std::env::var_os("OUT_DIR").is_some() && std::env::var_os("CARGO_MANIFEST_DIR").is_some()
        {
            for source in &sources {
                println!("cargo:rerun-if-changed={}", source.display());
            }
        }
        Ok(PtxOutput {
            ptx,
            sources,
            warnings: built.warnings,
        })
    }

    fn manifest(&self) -> Result<PathBuf, BuildError> {
        let base = std::env::var_os("CARGO_MANIFEST_DIR")
            .map(PathBuf::from)
            .unwrap_or_default();
        let folder = base.join(&self.path);
        let folder = folder
            .canonicalize()
            .context("cannot find the kernel crate", &folder)?;
        let manifest = if folder.is_file() {
            folder
        } else {
            folder.join("Cargo.toml")
        };
        if !manifest.is_file() {
            return Err(BuildError::Setup(format!(
                "there is no {}: `CudaBuilder::new` takes the folder of the kernel crate",
                manifest.display()
            )));
        }
        Ok(manifest)
    }

    fn rustflags(&self, sysroot: &DeviceSysroot) -> Vec<String> {
        let mut flags = device_crate::base_flags();
        flags.push(format!("--sysroot={}", sysroot.path.display()));
        for feature in ["abi_ptx", "asm_experimental_arch"] {
            flags.push(format!("-Zcrate-attr=feature({feature})"));
        }
        let mut cfg = |cfg: String| flags.extend(["--cfg".to_owned(), cfg]);
        cfg(format!(
            "warpsmith_panic=\"{}\"",
            match self.panic {
                PanicStrategy::Message => "message",
                PanicStrategy::Location => "location",
                PanicStrategy::Trap => "trap",
            }
        ));
        cfg(format!(
            "warpsmith_after_panic=\"{}\"",
            match self.after_panic {
                AfterPanic::Exit => "exit",
                AfterPanic::Trap => "trap",
            }
        ));
        cfg(format!("warpsmith_arch=\"{}\"", self.arch));
        for level in self.arch.levels_up_to() {
            cfg(format!("warpsmith_arch_at_least=\"{level}\""));
        }
        for user in &self.cfgs {
            cfg(user.clone());
        }
        flags
    }
}
