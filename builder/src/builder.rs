//! [`CudaBuilder`]: the options of a device build, and the build itself.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::arch::{Arch, PtxVersion};
use crate::cache;
use crate::core_source;
use crate::device_crate::{self, Built, Invocation};
use crate::environment;
use crate::error::{BuildError, IoContext};
use crate::fingerprint;
use crate::linker::{self, FloatOptions, LinkJob};
use crate::module_crate;
use crate::ptx::{self, KernelSummary};
use crate::shared_units;
use crate::sysroot::DeviceSysroot;
use crate::toolchain::Toolchain;

/// Compiles kernels to PTX.
///
/// From a crate of their own:
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
    kernels: Kernels,
    copy_to: Option<PathBuf>,
    options: Options,
}

/// Where the kernels are.
#[derive(Debug, Clone, Hash)]
enum Kernels {
    /// A crate, given by its folder.
    Crate(PathBuf),
    /// A module file of a host package.
    Module(PathBuf),
}

impl Kernels {
    /// The file that stands for them.
    fn origin(&self) -> &Path {
        match self {
            Kernels::Crate(path) | Kernels::Module(path) => path,
        }
    }
}

/// All that changes the PTX, apart from files.
#[derive(Debug, Clone, Hash)]
struct Options {
    arch: Arch,
    ptx_version: Option<PtxVersion>,
    debug: DebugInfo,
    debug_assertions: bool,
    panic: PanicStrategy,
    after_panic: AfterPanic,
    float: FloatOptions,
    cfgs: Vec<String>,
    features: Vec<String>,
    default_features: bool,
    rustflags: Vec<String>,
    libdevice: Option<PathBuf>,
}

/// What profilers, debuggers and the simulator learn about the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DebugInfo {
    /// Nothing.
    None,
    /// File and line of each instruction. Costs nothing at run time.
    #[default]
    Lines,
}

/// What a panic in a kernel reports to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
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
    /// False when nothing had changed and the text comes from the cache.
    pub rebuilt: bool,
}

impl PtxOutput {
    /// What the text says of each kernel: parameters, shared memory, bounds.
    pub fn kernels(&self) -> Vec<KernelSummary> {
        ptx::summarise(&self.ptx)
    }
}

impl CudaBuilder {
    /// For the kernel crate in folder `path`. In a build script, a relative path starts at the package's folder.
    pub fn new(path: impl AsRef<Path>) -> CudaBuilder {
        CudaBuilder::of(Kernels::Crate(path.as_ref().to_path_buf()))
    }

    /// For a module of a host package, such as `src/kernels.rs`. It is compiled as a `no_std` crate of its own,
    /// with those dependencies of the package that it names.
    ///
    /// Inside, `crate::kernels::...` and `super::` paths lead to the module itself only: the rest of the
    /// package is not there on the GPU.
    pub fn for_module(path: impl AsRef<Path>) -> CudaBuilder {
        CudaBuilder::of(Kernels::Module(path.as_ref().to_path_buf()))
    }

    fn of(kernels: Kernels) -> CudaBuilder {
        let float = FloatOptions {
            fmad: true,
            ftz: false,
            approximate_division: false,
            approximate_square_root: false,
        };
        CudaBuilder {
            kernels,
            copy_to: None,
            options: Options {
                arch: Arch::Sm70,
                ptx_version: None,
                debug: DebugInfo::default(),
                debug_assertions: false,
                panic: PanicStrategy::default(),
                after_panic: AfterPanic::default(),
                float,
                cfgs: Vec::new(),
                features: Vec::new(),
                default_features: true,
                rustflags: Vec::new(),
                libdevice: None,
            },
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
    pub fn build(self) -> Result<PtxOutput, BuildError> {
        let result = self.build_or_recall();
        if let Ok(output) = &result {
            if let Some(path) = &self.copy_to {
                cache::write_atomically(path, output.ptx.as_bytes())?;
            }
            self.tell_cargo(&output.sources);
        }
        result
    }

    fn build_or_recall(&self) -> Result<PtxOutput, BuildError> {
        let toolchain = Toolchain::find()?;
        let kernels = self.locate()?;
        let key = fingerprint::key(&(toolchain.key(), &toolchain.sysroot, &kernels, &self.options));
        if let Some(remembered) = fingerprint::recall(kernels.origin(), &key) {
            let fingerprint::Remembered {
                ptx,
                warnings,
                sources,
                ..
            } = remembered;
            return Ok(PtxOutput {
                ptx,
                sources,
                warnings,
                rebuilt: false,
            });
        }
        let started = SystemTime::now();
        let llvm = toolchain.llvm_library()?;
        let sysroot = DeviceSysroot::find_or_build(&toolchain)?;
        // Held until everything is read that the next build of this workspace may replace.
        let (built, _lock) = self.compile(&toolchain, &sysroot, &kernels)?;
        let libraries: Vec<PathBuf> = built
            .foreign_archives
            .iter()
            .chain(&sysroot.libraries)
            .cloned()
            .collect();
        let mut foreign = built.foreign.clone();
        foreign.extend(core_source::find(&toolchain));
        let job = LinkJob {
            llvm: &llvm,
            crates: &built.archives,
            libraries: &libraries,
            libdevice: self.options.libdevice.as_deref(),
            arch: self.options.arch,
            ptx_version: self.options.ptx_version,
            float: self.options.float,
            lines: self.options.debug == DebugInfo::Lines,
            foreign: &foreign,
        };
        let ptx = linker::link(&job)?;
        let sources = built.sources()?;
        fingerprint::remember(
            kernels.origin(),
            &key,
            started,
            &sources,
            &ptx,
            &built.warnings,
        )?;
        Ok(PtxOutput {
            ptx,
            sources,
            warnings: built.warnings,
            rebuilt: true,
        })
    }

    /// The kernels' absolute path.
    fn locate(&self) -> Result<Kernels, BuildError> {
        let base = environment::build_script_package().unwrap_or_default();
        match &self.kernels {
            Kernels::Module(path) => {
                let path = base.join(path);
                path.canonicalize()
                    .context("cannot find the kernel module", &path)
                    .map(Kernels::Module)
            }
            Kernels::Crate(path) => {
                let path = base.join(path);
                let folder = path
                    .canonicalize()
                    .context("cannot find the kernel crate", &path)?;
                let manifest = if folder.is_file() {
                    folder
                } else {
                    folder.join("Cargo.toml")
                };
                if manifest.is_file() {
                    return Ok(Kernels::Crate(manifest));
                }
                Err(BuildError::Setup(format!(
                    "there is no {}: `CudaBuilder::new` takes the folder of a kernel crate (for a module file use \
                     `CudaBuilder::for_module`)",
                    manifest.display()
                )))
            }
        }
    }

    /// Runs cargo for the GPU. Other builds of the workspace wait as long as the returned lock is held.
    fn compile(
        &self,
        toolchain: &Toolchain,
        sysroot: &DeviceSysroot,
        kernels: &Kernels,
    ) -> Result<(Built, File), BuildError> {
        let module = match kernels {
            Kernels::Crate(_) => None,
            Kernels::Module(path) => Some(module_crate::generate(toolchain, path)?),
        };
        let manifest = match (kernels, &module) {
            (_, Some(module)) => &module.manifest,
            (Kernels::Crate(path) | Kernels::Module(path), None) => path,
        };
        // A target folder per workspace: cargo tells crates apart by their path in the workspace, so two
        // workspaces with a crate `kernels` each would take one for the other.
        let workspace = device_crate::workspace_of(toolchain, manifest)?;
        let targets = cache::folder()?.join("target").join(toolchain.key());
        std::fs::create_dir_all(&targets).context("cannot create", &targets)?;
        let name = fingerprint::short_hash(&workspace);
        let lock = cache::lock(&targets.join(format!("{name}.lock")))?;
        let target = targets.join(name);
        let shared = targets.join("registry");
        if !target.exists() {
            cache::forget_vanished(&targets);
            cache::forget_vanished(&cache::folder()?.join("modules"));
            cache::forget_vanished(&cache::folder()?.join("ptx"));
            cache::project_folder(&target, &workspace)?;
            // Without them the build only takes longer.
            let _ = shared_units::seed(&shared, &target);
        }
        let mut invocation = Invocation::new(toolchain, manifest, &target);
        invocation.rustflags = self.rustflags(sysroot);
        invocation.debug_assertions = self.options.debug_assertions;
        if !self.options.default_features {
            invocation.arguments.push("--no-default-features".into());
        }
        if !self.options.features.is_empty() {
            invocation
                .arguments
                .extend(["--features".into(), self.options.features.join(",")]);
        }
        if let Some(module) = &module {
            // Line information names the user's folder, and cargo reads the user's configuration.
            let (generated, package) = (
                module.manifest.parent().unwrap_or(manifest),
                &module.package_folder,
            );
            invocation.last_crate_flags.push(format!(
                "--remap-path-prefix={}={}",
                generated.display(),
                package.display()
            ));
            invocation.folder = package.clone();
        }
        let built = invocation.run()?;
        if !built.new_registry_units.is_empty() {
            let _ = shared_units::keep(&target, &shared, &built.new_registry_units);
        }
        Ok((built, lock))
    }

    fn rustflags(&self, sysroot: &DeviceSysroot) -> Vec<String> {
        let options = &self.options;
        let mut flags = device_crate::base_flags();
        flags.push(format!("--sysroot={}", sysroot.path.display()));
        for feature in ["abi_ptx", "asm_experimental_arch"] {
            flags.push(format!("-Zcrate-attr=feature({feature})"));
        }
        let mut cfg = |cfg: String| flags.extend(["--cfg".to_owned(), cfg]);
        cfg(format!(
            "warpsmith_panic=\"{}\"",
            match options.panic {
                PanicStrategy::Message => "message",
                PanicStrategy::Location => "location",
                PanicStrategy::Trap => "trap",
            }
        ));
        cfg(format!(
            "warpsmith_after_panic=\"{}\"",
            match options.after_panic {
                AfterPanic::Exit => "exit",
                AfterPanic::Trap => "trap",
            }
        ));
        cfg(format!("warpsmith_arch=\"{}\"", options.arch));
        for level in options.arch.levels_up_to() {
            cfg(format!("warpsmith_arch_at_least=\"{level}\""));
        }
        for user in &options.cfgs {
            cfg(user.clone());
        }
        flags.extend(options.rustflags.iter().cloned());
        flags
    }

    /// In a build script: names every file whose change must run it again.
    fn tell_cargo(&self, sources: &[PathBuf]) {
        if environment::build_script_package().is_none() {
            return;
        }
        for file in fingerprint::watched(sources) {
            println!("cargo:rerun-if-changed={}", file.display());
        }
        for variable in environment::RERUN_IF_CHANGED {
            println!("cargo:rerun-if-env-changed={variable}");
        }
    }
}
