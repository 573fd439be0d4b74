//! A device build: what is remembered of an earlier one, else cargo for the GPU and the PTX linker.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::builtins;
use crate::cache;
use crate::core_source;
use crate::device_crate::{self, Built, Invocation};
use crate::environment;
use crate::error::{BuildError, IoContext};
use crate::fingerprint::{self, Lines, Made};
use crate::linker::{self, LinkJob, Linked};
use crate::module_crate;
use crate::options::{DebugInfo, KernelSource, Options};
use crate::ptx::{self, KernelSummary};
use crate::shared_units;
use crate::sysroot::DeviceSysroot;
use crate::toolchain::Toolchain;

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
    /// False when nothing had changed and the text comes from the cache; true also where only its source lines are new.
    pub rebuilt: bool,
    /// What was compiled: names of kernels, and `common functions` and `common variables` for what kernels have in common. All else was in
    /// the cache.
    pub compiled: Vec<String>,
    /// Whether the kernels do not compile, and the compilation of the package for the host reports why: see
    /// [`CudaBuilder::build`](crate::CudaBuilder::build). The text is a comment then.
    pub deferred: bool,
}

impl PtxOutput {
    /// What the text says of each kernel: parameters, shared memory, bounds.
    pub fn kernels(&self) -> Vec<KernelSummary> {
        ptx::summarise(&self.ptx)
    }
}

/// Compiles and links kernels that were [located](locate), or gives what an earlier build with the same input has made.
pub(crate) fn build(
    toolchain: &Toolchain,
    kernels: &KernelSource,
    options: &Options,
) -> Result<PtxOutput, BuildError> {
    let key = fingerprint::key(&(toolchain.key(), &toolchain.sysroot, kernels, options));
    let known = match fingerprint::recall(kernels.origin(), &key) {
        Ok(recalled) => {
            let fingerprint::Remembered {
                ptx,
                warnings,
                sources,
                ..
            } = recalled.remembered;
            return Ok(PtxOutput {
                ptx,
                sources,
                warnings,
                rebuilt: recalled.is_mended,
                compiled: Vec::new(),
                deferred: false,
            });
        }
        Err(known) => known,
    };
    let started = SystemTime::now();
    let llvm = toolchain.llvm_library()?;
    let sysroot = DeviceSysroot::find_or_build(toolchain)?;
    let builtins = builtins::find_or_build(toolchain, &sysroot)?;
    // Held until everything is read that the next build of this workspace may replace.
    let BuiltUnderLock {
        built,
        workspace,
        _lock,
    } = compile(toolchain, &sysroot, kernels, options)?;
    let libraries: Vec<PathBuf> = built
        .foreign_archives
        .iter()
        .chain(&sysroot.libraries)
        .chain([&builtins])
        .cloned()
        .collect();
    let mut foreign = built.foreign.clone();
    foreign.extend(core_source::find(toolchain));
    foreign.push(builtins::FOLDER.into());
    let lines = (!built.may_read_lines && !built.warns_of_own).then(|| Lines {
        folder: workspace.clone(),
        foreign: built.foreign_sources.clone(),
        device_library: built.device_library.clone(),
        libraries: foreign.clone(),
    });
    let job = LinkJob {
        llvm,
        toolchain: toolchain.key(),
        crates: built.archives.clone(),
        libraries,
        libdevice: options.libdevice.clone(),
        arch: options.arch,
        ptx_version: options.ptx_version,
        float: options.float,
        lines: options.debug == DebugInfo::Lines,
        foreign,
    };
    let Linked {
        ptx,
        compiled,
        names_lines_apart,
    } = linker::link(job)?;
    let sources = built.sources.read(&workspace)?;
    fingerprint::remember(
        kernels.origin(),
        &key,
        started,
        Made {
            sources: &sources,
            ptx: &ptx,
            warnings: &built.warnings,
            has_scripts: built.sources.has_scripts(),
            lines: lines.filter(|_| names_lines_apart),
        },
        &known,
    )?;
    Ok(PtxOutput {
        ptx,
        sources,
        warnings: built.warnings,
        rebuilt: true,
        compiled,
        deferred: false,
    })
}

/// The kernels' absolute path.
pub(crate) fn locate(kernels: &KernelSource) -> Result<KernelSource, BuildError> {
    let package = environment::build_script_package();
    let base = package.clone().unwrap_or_default();
    match kernels {
        KernelSource::Module(path) => {
            let path = base.join(path);
            path.canonicalize()
                .context("cannot find the kernel module", &path)
                .map(KernelSource::Module)
        }
        KernelSource::Crate(path) | KernelSource::OwnCrate(path) => {
            let path = base.join(path);
            let folder = path
                .canonicalize()
                .context("cannot find the kernel crate", &path)?;
            let manifest = if folder.is_file() {
                folder
            } else {
                folder.join("Cargo.toml")
            };
            if !manifest.is_file() {
                return Err(BuildError::Setup(format!(
                    "there is no {}: `CudaBuilder::new` takes the folder of a kernel crate (for a module file use \
                     `CudaBuilder::for_module`)",
                    manifest.display()
                )));
            }
            let own = package.and_then(|folder| folder.join("Cargo.toml").canonicalize().ok());
            Ok(if own.as_ref() == Some(&manifest) {
                KernelSource::OwnCrate(manifest)
            } else {
                KernelSource::Crate(manifest)
            })
        }
    }
}

/// What cargo has built, and the lock that makes other builds of the workspace wait until it is dropped.
struct BuiltUnderLock {
    built: Built,
    /// The workspace's folder.
    workspace: PathBuf,
    _lock: File,
}

/// Runs cargo for the GPU.
fn compile(
    toolchain: &Toolchain,
    sysroot: &DeviceSysroot,
    kernels: &KernelSource,
    options: &Options,
) -> Result<BuiltUnderLock, BuildError> {
    let generated = match kernels {
        KernelSource::Crate(_) => None,
        KernelSource::OwnCrate(manifest) => Some(module_crate::of_library(toolchain, manifest)?),
        KernelSource::Module(file) => Some(module_crate::of_module(toolchain, file)?),
    };
    let manifest = match &generated {
        Some(generated) => &generated.manifest,
        None => kernels.origin(),
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
    invocation.rustflags = options.rustflags(sysroot);
    invocation.debug_assertions = options.debug_assertions;
    invocation.workspace_folder = workspace.parent().unwrap_or(&workspace).to_path_buf();
    if !options.default_features {
        invocation.arguments.push("--no-default-features".into());
    }
    if !options.features.is_empty() {
        invocation
            .arguments
            .extend(["--features".into(), options.features.join(",")]);
    }
    if let Some(generated) = &generated {
        // Line information names the user's folder, and cargo reads the user's configuration.
        let package = &generated.package_folder;
        invocation.last_crate_flags.push(format!(
            "--remap-path-prefix={}={}",
            manifest.parent().unwrap_or(manifest).display(),
            package.display()
        ));
        invocation.folder = package.clone();
    }
    let built = invocation.run().map_err(|error| {
        // Only there it makes a difference (see `deferred`).
        if environment::build_script_package().is_some() {
            invocation.compare_with_host(error)
        } else {
            error
        }
    })?;
    if !built.new_registry_units.is_empty() {
        let _ = shared_units::keep(&target, &shared, &built.new_registry_units);
    }
    Ok(BuiltUnderLock {
        built,
        workspace: workspace.parent().unwrap_or(&workspace).to_path_buf(),
        _lock: lock,
    })
}

/// The PTX files that this build script has written.
static WRITTEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// In a build script: tells those who read cargo's messages (`cargo xtask build-ptx`) where the PTX is.
pub(crate) fn tell_written(path: &Path) {
    let Some(package) = environment::build_script_package() else {
        return;
    };
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    written.push(package.join(path).display().to_string());
    println!(
        "cargo::rustc-env={}={}",
        environment::PTX_FILES,
        written.join("\t")
    );
}

/// In a build script: names every file whose change must run it again.
pub(crate) fn tell_cargo(sources: &[PathBuf]) {
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
