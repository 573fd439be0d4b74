//! The device sysroot: `core`, `alloc` and `compiler_builtins` as unoptimised bitcode for the GPU.
//!
//! Built once per toolchain into the user's cache and used for all architectures, because the linker
//! chooses the processor later.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache;
use crate::core_source;
use crate::device_core;
use crate::device_crate::{self, Invocation};
use crate::error::{BuildError, IoContext};
use crate::toolchain::Toolchain;

/// Raised when a change here makes older cached sysroots wrong.
const FORMAT: u32 = 11;

/// The file that lists the archives and their metadata with their sizes, written last.
const CONTENTS: &str = "contents.json";

/// The crates of a device sysroot.
pub const CRATES: [&str; 3] = ["core", "alloc", "compiler_builtins"];

/// A device sysroot that is ready for use.
#[derive(Debug, Clone)]
pub struct DeviceSysroot {
    /// What rustc gets as `--sysroot`.
    pub path: PathBuf,
    /// The archives of [`CRATES`].
    pub libraries: Vec<PathBuf>,
}

impl DeviceSysroot {
    /// The cached sysroot, if it is whole.
    pub fn find(toolchain: &Toolchain) -> Result<Option<DeviceSysroot>, BuildError> {
        DeviceSysroot::at(&cache::folder()?.join(folder_name(toolchain)))
    }

    fn at(path: &Path) -> Result<Option<DeviceSysroot>, BuildError> {
        let Ok(text) = fs::read(path.join(CONTENTS)) else {
            return Ok(None);
        };
        let Ok(contents) = serde_json::from_slice::<Vec<(PathBuf, u64)>>(&text) else {
            return Ok(None);
        };
        let mut libraries = Vec::new();
        for (file, size) in contents {
            let library = path.join(file);
            if fs::metadata(&library).map(|m| m.len()).ok() != Some(size) {
                return Ok(None);
            }
            if library.extension().is_some_and(|e| e == "rlib") {
                libraries.push(library);
            }
        }
        Ok(Some(DeviceSysroot {
            path: path.to_path_buf(),
            libraries,
        }))
    }

    /// The cached sysroot; builds it first where it is missing or damaged.
    pub fn find_or_build(toolchain: &Toolchain) -> Result<DeviceSysroot, BuildError> {
        let cache = cache::folder()?;
        if let Some(found) = DeviceSysroot::find(toolchain)? {
            return Ok(found);
        }
        let source = core_source::find_or_fetch(toolchain)?;
        let target = cache.join(folder_name(toolchain));
        if target.exists() {
            // Under the final name and not complete: files were deleted from it.
            let _lock = cache::lock(&cache.join(format!("{}.lock", folder_name(toolchain))))?;
            if DeviceSysroot::at(&target)?.is_none() {
                fs::remove_dir_all(&target).context("cannot remove the damaged", &target)?;
            }
        }
        let path = cache::once(&cache, &folder_name(toolchain), |folder| {
            eprintln!("warpsmith: building `core` for the GPU (once per toolchain)");
            build(toolchain, &source, folder)
        })?;
        DeviceSysroot::at(&path)?
            .ok_or_else(|| BuildError::Setup(format!("{} was built incompletely", path.display())))
    }
}

/// Its folder's name in the cache.
pub fn folder_name(toolchain: &Toolchain) -> String {
    format!("sysroot-{}-v{FORMAT}", toolchain.key())
}

/// Where rustc looks for the target's libraries in a sysroot.
const LIBRARY_FOLDER: &str = "lib/rustlib/nvptx64-nvidia-cuda/lib";

fn is_rlib_of(path: &Path, krate: &str) -> bool {
    path.file_name()
        .and_then(|n| n.to_str())
        .and_then(|n| {
            n.strip_prefix("lib")?
                .strip_suffix(".rlib")?
                .rsplit_once('-')
        })
        .is_some_and(|(name, _)| name == krate)
}

/// Whether an archive has only a stub of what rustc wants to know of the crate, and the rest lies beside it: cargo 1.101 makes such.
fn has_stub_of_metadata(rlib: &Path) -> bool {
    /// No crate's metadata is that small.
    const STUB: u64 = 2048;
    let Ok(file) = fs::File::open(rlib) else {
        return false;
    };
    let cache = object::ReadCache::new(file);
    let Ok(archive) = object::read::archive::ArchiveFile::parse(&cache) else {
        return false;
    };
    archive
        .members()
        .flatten()
        .any(|member| member.name() == b"lib.rmeta" && member.file_range().1 < STUB)
}

/// Builds into `folder`, which becomes the sysroot.
fn build(toolchain: &Toolchain, source: &Path, folder: &Path) -> Result<(), BuildError> {
    let seed = folder.join("seed");
    fs::create_dir_all(seed.join("src")).context("cannot create", &seed)?;
    let manifest = seed.join("Cargo.toml");
    fs::write(&manifest, "[package]\nname = \"sysroot_seed\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n")
        .context("cannot write", &manifest)?;
    fs::write(seed.join("src/lib.rs"), "#![no_std]\n").context("cannot write", &seed)?;

    let mut invocation = Invocation::new(toolchain, &manifest, &seed.join("target"));
    invocation.rustflags = device_crate::base_flags();
    // Many small codegen units: the linker pulls members of the archives one by one.
    invocation.rustflags.push("-Ccodegen-units=512".into());
    // What rustc's own build passes for the standard library.
    invocation
        .rustflags
        .push("-Zforce-unstable-if-unmarked".into());
    let library = seed.join("library");
    device_core::write(source, &library)?;
    invocation.rustflags.push(format!(
        "--remap-path-prefix={}={}",
        library.display(),
        source.display()
    ));
    invocation.arguments = vec![
        format!("-Zbuild-std={}", CRATES.join(",")),
        "-Zbuild-std-features=compiler-builtins-mem".into(),
    ];
    invocation
        .environment
        .push(("__CARGO_TESTS_ONLY_SRC_ROOT".into(), library.into()));
    let built = invocation.run()?;

    let library_folder = folder.join(LIBRARY_FOLDER);
    fs::create_dir_all(&library_folder).context("cannot create", &library_folder)?;
    let mut contents: Vec<(PathBuf, u64)> = Vec::new();
    for krate in CRATES {
        let rlib = built
            .archives
            .iter()
            .find(|path| is_rlib_of(path, krate))
            .ok_or_else(|| BuildError::Setup(format!("cargo built no `{krate}` for the GPU")))?;
        let metadata = Some(rlib.with_extension("rmeta"))
            .filter(|file| file.is_file() && has_stub_of_metadata(rlib));
        for file in [Some(rlib.clone()), metadata].into_iter().flatten() {
            let name = Path::new(LIBRARY_FOLDER).join(file.file_name().unwrap_or_default());
            let to = folder.join(&name);
            let size = fs::copy(&file, &to).context("cannot copy to", &to)?;
            contents.push((name, size));
        }
    }
    let list = serde_json::to_vec(&contents).map_err(|e| BuildError::Setup(e.to_string()))?;
    fs::write(folder.join(CONTENTS), list).context("cannot write", folder.join(CONTENTS))?;
    fs::remove_dir_all(&seed).context("cannot remove", &seed)?;
    Ok(())
}
