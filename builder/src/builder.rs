//! [`CudaBuilder`]: what a build script says of a device build.

use std::path::{Path, PathBuf};

use crate::admission;
use crate::arch::{Arch, PtxVersion};
use crate::build::{self, PtxOutput};
use crate::cache;
use crate::deferred;
use crate::error::BuildError;
use crate::options::{AfterPanic, DebugInfo, KernelSource, Options, PanicStrategy};
use crate::toolchain::Toolchain;

/// Compiles kernels to PTX.
///
/// From another crate:
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
///
/// or from a module of the package whose `build.rs` this is:
///
/// ```no_run
/// # use warpsmith_builder::CudaBuilder;
/// CudaBuilder::for_module("src/kernels.rs")
///     .copy_to(format!("{}/kernels.ptx", std::env::var("OUT_DIR").unwrap()))
///     .build()
///     .unwrap();
/// ```
///
/// The program then embeds the text: `include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"))`.
#[derive(Debug, Clone)]
pub struct CudaBuilder {
    kernels: KernelSource,
    copy_to: Option<PathBuf>,
    options: Options,
}

impl CudaBuilder {
    /// For the kernel crate in folder `path`. In a build script, a relative path starts at the package's folder.
    ///
    /// A kernel crate's own build script says `"."`. For the GPU the crate is then compiled without its build script, with those of its
    /// dependencies that its sources name, so what embeds the PTX is for the host alone:
    ///
    /// ```ignore
    /// // src/lib.rs
    /// #[cfg(not(target_arch = "nvptx64"))]
    /// pub const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));
    /// ```
    pub fn new(path: impl AsRef<Path>) -> CudaBuilder {
        CudaBuilder::of(KernelSource::Crate(path.as_ref().to_path_buf()))
    }

    /// For a module of a host package, such as `src/kernels.rs`. It is compiled as a `no_std` crate of its own,
    /// with those dependencies of the package that it names.
    ///
    /// Inside, `crate::kernels::...` and `super::` paths lead to the module itself only: the rest of the
    /// package is not there on the GPU.
    pub fn for_module(path: impl AsRef<Path>) -> CudaBuilder {
        CudaBuilder::of(KernelSource::Module(path.as_ref().to_path_buf()))
    }

    fn of(kernels: KernelSource) -> CudaBuilder {
        CudaBuilder {
            kernels,
            copy_to: None,
            options: Options::default(),
        }
    }

    /// The architecture. Default: `sm_70`, which runs on everything from Volta on.
    pub fn arch(mut self, arch: Arch) -> Self {
        self.options.arch = arch;
        self
    }

    /// The PTX version. Default: the oldest that has what the kernels use, so that old drivers take it.
    pub fn ptx_version(mut self, version: PtxVersion) -> Self {
        self.options.ptx_version = Some(version);
        self
    }

    /// What is told about the source. Default: file and line.
    pub fn debug(mut self, level: DebugInfo) -> Self {
        self.options.debug = level;
        self
    }

    /// Whether `debug_assert!` and overflow checks are in. Default: no.
    pub fn debug_assertions(mut self, on: bool) -> Self {
        self.options.debug_assertions = on;
        self
    }

    /// What a panic reports to the host. Default: message and location.
    pub fn panic(mut self, strategy: PanicStrategy) -> Self {
        self.options.panic = strategy;
        self
    }

    /// What a thread does after a panic. Default: it ends.
    pub fn after_panic(mut self, after: AfterPanic) -> Self {
        self.options.after_panic = after;
        self
    }

    /// Whether `a * b + c` becomes one `fma` with one rounding, as nvcc does. Default: on. A kernel overrides it
    /// with `#[kernel(fmad = false)]`.
    pub fn fmad(mut self, on: bool) -> Self {
        self.options.float.fmad = on;
        self
    }

    /// Whether subnormal `f32` numbers are flushed to zero (nvcc's `-ftz`). Default: off.
    pub fn ftz(mut self, on: bool) -> Self {
        self.options.float.ftz = on;
        self
    }

    /// Whether `f32` division may be approximate (nvcc's `-prec-div=false`): 2 ulp. Default: off.
    pub fn approximate_division(mut self, on: bool) -> Self {
        self.options.float.approximate_division = on;
        self
    }

    /// Whether `f32` square roots may be approximate (nvcc's `-prec-sqrt=false`). Default: off.
    pub fn approximate_square_root(mut self, on: bool) -> Self {
        self.options.float.approximate_square_root = on;
        self
    }

    /// All of nvcc's `-use_fast_math` that concerns translation: flush to zero, approximate division and
    /// square root.
    pub fn fast_math(self, on: bool) -> Self {
        self.ftz(on)
            .approximate_division(on)
            .approximate_square_root(on)
    }

    /// Also writes the PTX to this file (whole or not at all).
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_path_buf());
        self
    }

    /// Sets a `cfg` for all device crates: `name` or `name="value"`.
    pub fn cfg(mut self, cfg: impl Into<String>) -> Self {
        self.options.cfgs.push(cfg.into());
        self
    }

    /// Turns on a feature of the kernel crate.
    pub fn feature(mut self, feature: impl Into<String>) -> Self {
        self.options.features.push(feature.into());
        self
    }

    /// Whether the kernel crate's default features are on. Default: yes.
    pub fn default_features(mut self, on: bool) -> Self {
        self.options.default_features = on;
        self
    }

    /// An extra argument for rustc, for every device crate.
    pub fn rustc_flag(mut self, flag: impl Into<String>) -> Self {
        self.options.rustflags.push(flag.into());
        self
    }

    /// Links NVIDIA's library of mathematical functions, for code that declares functions such as `__nv_sinf`.
    /// `path` is that of `libdevice.10.bc`, as in a CUDA toolkit or in PyPI's `nvidia-nvvm`.
    pub fn libdevice(mut self, path: impl AsRef<Path>) -> Self {
        self.options.libdevice = Some(path.as_ref().to_path_buf());
        self
    }

    /// Compiles and links; writes what [`CudaBuilder::copy_to`] asks for. In a build script it also tells cargo
    /// which files to watch.
    ///
    /// When no input has changed since the last build with the same options, the PTX comes from the cache.
    ///
    /// # Errors that the host's compilation reports
    ///
    /// A build script that fails keeps cargo from compiling the package, and then `cargo check` and rust-analyzer have nothing to
    /// say about any of its files. So in a build script whose [`CudaBuilder::copy_to`] leads into `OUT_DIR`, errors in the kernels'
    /// source are left to the compilation of the package for the host: those that rustc finds there by itself, and others (an
    /// instruction that the architecture lacks, say) by `#[kernel]`, which reports them at their place. `build` returns `Ok` with
    /// [`PtxOutput::deferred`] set, the file holds a comment, and cargo is told to link a library that does not exist, so that
    /// nothing with these kernels in it can be built. Errors without a place in the kernels' source are an `Err` here, too, and so are
    /// those of another package's kernel crate if rustc does not find them for the host: only its own build script can have them reported
    /// there.
    ///
    /// # Errors
    ///
    /// See [`BuildError`].
    pub fn build(self) -> Result<PtxOutput, BuildError> {
        let toolchain = Toolchain::find()?;
        admission::admit(&toolchain)?;
        let kernels = build::locate(&self.kernels)?;
        if let (KernelSource::OwnCrate(_), Some(path)) = (&kernels, &self.copy_to)
            && !path.exists()
        {
            // The crate embeds it, and errors are compared with those of its compilation for the host.
            cache::write_atomically(path, b"")?;
        }
        let output = match build::build(&toolchain, &kernels, &self.options) {
            Ok(output) => output,
            Err(error) => {
                return deferred::defer(&kernels, self.copy_to.as_deref(), &error).ok_or(error);
            }
        };
        if let Some(path) = &self.copy_to {
            cache::write_atomically(path, output.ptx.as_bytes())?;
            build::tell_written(path);
        }
        build::tell_cargo(&output.sources);
        Ok(output)
    }
}
