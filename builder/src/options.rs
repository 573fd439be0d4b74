//! All that a device build can be told, and what rustc is told of it.

use std::path::{Path, PathBuf};

use crate::arch::{Arch, PtxVersion};
use crate::device_crate;
use crate::linker::FloatOptions;
use crate::sysroot::DeviceSysroot;

/// Where the kernels are.
#[derive(Debug, Clone, Hash)]
pub(crate) enum KernelSource {
    /// A crate, given by its folder.
    Crate(PathBuf),
    /// The package whose build script this is, given by its manifest.
    OwnCrate(PathBuf),
    /// A module file of a host package.
    Module(PathBuf),
}

impl KernelSource {
    /// The file that stands for them.
    pub(crate) fn origin(&self) -> &Path {
        match self {
            KernelSource::Crate(path)
            | KernelSource::OwnCrate(path)
            | KernelSource::Module(path) => path,
        }
    }
}

/// All that changes the PTX, apart from files.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Options {
    pub(crate) arch: Arch,
    pub(crate) ptx_version: Option<PtxVersion>,
    pub(crate) debug: DebugInfo,
    pub(crate) debug_assertions: bool,
    pub(crate) panic: PanicStrategy,
    pub(crate) after_panic: AfterPanic,
    pub(crate) float: FloatOptions,
    pub(crate) cfgs: Vec<String>,
    pub(crate) features: Vec<String>,
    pub(crate) default_features: bool,
    pub(crate) rustflags: Vec<String>,
    pub(crate) libdevice: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arch: Arch::Sm70,
            ptx_version: None,
            debug: DebugInfo::default(),
            debug_assertions: false,
            panic: PanicStrategy::default(),
            after_panic: AfterPanic::default(),
            float: FloatOptions {
                fmad: true,
                ftz: false,
                approximate_division: false,
                approximate_square_root: false,
            },
            cfgs: Vec::new(),
            features: Vec::new(),
            default_features: true,
            rustflags: Vec::new(),
            libdevice: None,
        }
    }
}

impl Options {
    /// What rustc is told for every device crate.
    pub(crate) fn rustflags(&self, sysroot: &DeviceSysroot) -> Vec<String> {
        let mut flags = device_crate::base_flags();
        flags.push(format!("--sysroot={}", sysroot.path.display()));
        for feature in ["abi_ptx", "asm_experimental_arch"] {
            flags.push(format!("-Zcrate-attr=feature({feature})"));
        }
        // From 1.96 on rustc warns of those that a crate has no use for, and with `deny(unused)` refuses the crate.
        flags.push("-Zcrate-attr=allow(unused_features)".into());
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
        flags.extend(self.rustflags.iter().cloned());
        flags
    }
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
