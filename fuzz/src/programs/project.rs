//! A generated cargo project with many programs: compiled for the device as one module of PTX, and for the host as a library that
//! is the oracle.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use libloading::Library;
use warpsmith_builder::toolchain::Toolchain;
use warpsmith_builder::{Arch, CudaBuilder};

use crate::folders;

/// What surrounds the programs of a kind.
pub struct Template {
    /// The kind's name, also of the project's folder.
    pub kind: &'static str,
    /// Modules that the programs use, on device and host: name and text.
    pub modules: &'static [(&'static str, &'static str)],
    /// Modules for the device alone.
    pub device_modules: &'static [(&'static str, &'static str)],
    /// The host library, which knows the programs as `PROGRAMS`.
    pub oracle: &'static str,
    /// The type of the host's entries in `PROGRAMS`.
    pub entry: &'static str,
    /// The kernel of a program: `NAME` stands for the program's module, `KERNEL` for the kernel's name.
    pub kernel: &'static str,
}

/// How a project is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The device's architecture.
    pub arch: Arch,
    /// Whether arithmetic that overflows panics.
    pub overflow_checks: bool,
}

/// A project that was compiled.
pub struct Built {
    /// The kernels: `k0`, `k1` and so on.
    pub ptx: String,
    /// The programs on the host.
    pub oracle: Library,
}

/// The name of a program's kernel.
pub fn kernel_name(program: usize) -> String {
    format!("k{program}")
}

/// Why a project has no result.
#[derive(Debug, thiserror::Error)]
pub enum BuildFailure {
    /// The host's compiler refuses a program: it is not Rust.
    #[error("the host's compiler refuses the programs:\n{0}")]
    Host(String),
    /// The device build fails, although the host's does not.
    #[error("the device build fails:\n{0}")]
    Device(String),
    /// Neither was tried.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

/// Compiles programs; `name` tells projects apart that are in use at the same time.
pub fn build(
    template: &Template,
    name: &str,
    programs: &[String],
    settings: Settings,
) -> Result<Built, BuildFailure> {
    let folder = folders::scratch()?.join(format!("{}-{name}", template.kind));
    let _alone = lock(&folder)?;
    write(template, &folder, programs)?;
    let oracle = compile_host(&folder, settings)?;
    let built = CudaBuilder::new(&folder)
        .arch(settings.arch)
        .fmad(false)
        .debug_assertions(settings.overflow_checks)
        .build();
    match built {
        Ok(output) => Ok(Built {
            ptx: output.ptx,
            oracle,
        }),
        Err(error) => Err(BuildFailure::Device(error.to_string())),
    }
}

/// Keeps other processes out of a project's folder until it is dropped.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.with_extension("lock");
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    file.lock()
        .with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

/// Writes the project's files.
fn write(template: &Template, folder: &Path, programs: &[String]) -> Result<()> {
    let source = folder.join("src");
    // Files of an earlier project would be taken for this one's.
    let _ = fs::remove_dir_all(&source);
    fs::create_dir_all(&source).with_context(|| format!("cannot create {}", source.display()))?;
    let put = |name: &str, text: &str| -> Result<()> {
        let file = folder.join(name);
        if fs::read_to_string(&file).ok().as_deref() == Some(text) {
            return Ok(());
        }
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    let root = folders::workspace();
    put(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"fuzz-{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n\
             [dependencies]\nwarpsmith-device = {{ path = {:?} }}\n",
            template.kind,
            root.join("device")
        ),
    )?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).context("the workspace has no lock")?;
    // Starts from the workspace's versions; cargo leaves out what the project does not need, offline.
    if !folder.join("Cargo.lock").exists() {
        put("Cargo.lock", &lock)?;
    }
    let mut modules = String::new();
    for (name, text) in template.modules {
        put(&format!("src/{name}.rs"), text)?;
        let _ = writeln!(modules, "pub mod {name};");
    }
    let mut device_modules = String::new();
    for (name, text) in template.device_modules {
        put(&format!("src/{name}.rs"), text)?;
        let _ = writeln!(device_modules, "mod {name};");
    }
    let mut kernels = String::new();
    let mut table = format!("pub const PROGRAMS: &[{}] = &[", template.entry);
    for (number, text) in programs.iter().enumerate() {
        let name = format!("p{number}");
        put(&format!("src/{name}.rs"), text)?;
        let _ = writeln!(modules, "mod {name};");
        let _ = write!(table, "{name}::program, ");
        kernels += &template
            .kernel
            .replace("KERNEL", &kernel_name(number))
            .replace("NAME", &name);
    }
    // Random programs have constants that overflow and indices that are out of bounds, each of which panics.
    let allowed =
        "#![allow(warnings, arithmetic_overflow, overflowing_literals, unconditional_panic)]\n";
    put(
        "src/lib.rs",
        &format!(
            "#![no_std]\n{allowed}{modules}{device_modules}use warpsmith_device::prelude::*;\n{kernels}"
        ),
    )?;
    let oracle = template.oracle;
    put(
        "src/oracle.rs",
        &format!(
            "{allowed}{modules}{table}];\n\nmod answers {{\n    use super::*;\n{oracle}\n}}\n"
        ),
    )
}

/// Compiles the programs for the host, unoptimised: what LLVM would do to them on both sides must not be the oracle.
fn compile_host(folder: &Path, settings: Settings) -> Result<Library, BuildFailure> {
    let toolchain = Toolchain::find().map_err(anyhow::Error::from)?;
    // A library of a name that is loaded already would be taken for that one.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let library: PathBuf = folder.join(format!("oracle-{}-{number}.so", std::process::id()));
    let checks = if settings.overflow_checks {
        "on"
    } else {
        "off"
    };
    let output = Command::new(&toolchain.rustc)
        .current_dir(folder)
        .args(["--edition", "2024", "--crate-type", "cdylib"])
        .args(["-C", "opt-level=0", "-C", "codegen-units=16"])
        .args(["-C", &format!("debug-assertions={checks}")])
        .args(["-C", &format!("overflow-checks={checks}")])
        .arg("src/oracle.rs")
        .arg("-o")
        .arg(&library)
        .output()
        .with_context(|| format!("cannot run {}", toolchain.rustc.display()))?;
    if !output.status.success() {
        return Err(BuildFailure::Host(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    // SAFETY: the library is the one that was just made; its only initialisers are those of Rust's standard library.
    let loaded = unsafe { Library::new(&library) };
    let loaded = loaded.with_context(|| format!("cannot load {}", library.display()))?;
    // It stays mapped.
    let _ = fs::remove_file(&library);
    Ok(loaded)
}

/// An architecture by its name in a case file.
pub fn arch(name: &str) -> Result<Arch> {
    match name.parse() {
        Ok(arch) => Ok(arch),
        Err(_) => bail!("`{name}` is no architecture"),
    }
}
