//! Kernels of the package whose build script compiles them: a module, `src/kernels.rs`, becomes a `no_std` crate of its own; a library
//! that is a kernel crate is one already, and becomes one without a build script.
//!
//! The crate is in the cache: a manifest with those of the package's dependencies that the kernels name, and for a module a
//! `lib.rs` with `pub mod kernels;`, and links to the module's files. The links have the module's own relative
//! paths, so rustc's diagnostics name the user's files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cache;
use crate::error::{BuildError, IoContext};
use crate::fingerprint;
use crate::toolchain::Toolchain;

/// A generated crate.
pub(crate) struct ModuleCrate {
    /// Its manifest.
    pub manifest: PathBuf,
    /// Its folder stands for this one, the user's package.
    pub package_folder: PathBuf,
}

/// Generates the crate for the module file `module`, or brings it up to date.
pub(crate) fn of_module(toolchain: &Toolchain, module: &Path) -> Result<ModuleCrate, BuildError> {
    let module = module
        .canonicalize()
        .context("cannot find the kernel module", module)?;
    let package_folder = module
        .ancestors()
        .skip(1)
        .find(|folder| folder.join("Cargo.toml").is_file())
        .ok_or_else(|| {
            BuildError::Setup(format!(
                "{} is in no package: there is no Cargo.toml above it",
                module.display()
            ))
        })?
        .to_path_buf();
    let (name, files) = files_of(&module)?;
    let generated = Generated {
        origin: &module,
        suffix: &name,
        files: &files,
        root: None,
    }
    .write(toolchain, package_folder)?;
    let folder = generated.manifest.parent().unwrap_or(Path::new("/"));
    let source = folder.join("src");
    fs::create_dir_all(&source).context("cannot create", &source)?;
    let expected = format!(
        "//! Generated from {}.\n#![no_std]\npub mod {name};\n",
        module.display()
    );
    write_if_changed(&source.join("lib.rs"), &expected)?;
    link(&source, &name, &module)?;
    Ok(generated)
}

/// Generates the crate for the library of the package of `manifest`, or brings it up to date.
pub(crate) fn of_library(
    toolchain: &Toolchain,
    manifest: &Path,
) -> Result<ModuleCrate, BuildError> {
    let files = library_files(manifest)?;
    Generated {
        origin: &files[0],
        suffix: "kernels",
        files: &files,
        root: Some(&files[0]),
    }
    .write(
        toolchain,
        manifest.parent().unwrap_or(Path::new("/")).to_path_buf(),
    )
}

/// What a crate is generated of.
struct Generated<'a> {
    /// The file that stands for the kernels.
    origin: &'a Path,
    /// What the package's name has behind that of the user's.
    suffix: &'a str,
    /// All sources.
    files: &'a [PathBuf],
    /// The root of the crate, if it is a file of the user's.
    root: Option<&'a Path>,
}

impl Generated<'_> {
    /// Writes the manifest and the lock file.
    fn write(
        &self,
        toolchain: &Toolchain,
        package_folder: PathBuf,
    ) -> Result<ModuleCrate, BuildError> {
        let metadata = metadata(toolchain, &package_folder)?;
        let manifest_path = package_folder.join("Cargo.toml");
        let package = metadata["packages"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|p| p["manifest_path"].as_str().map(Path::new) == Some(&manifest_path))
            .ok_or_else(|| {
                BuildError::Setup(format!(
                    "cargo does not know the package of {}",
                    manifest_path.display()
                ))
            })?;
        let workspace = PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default());
        let folder = cache::folder()?
            .join("modules")
            .join(fingerprint::short_hash(&self.origin));
        fs::create_dir_all(&folder).context("cannot create", &folder)?;
        cache::project_folder(&folder, self.origin)?;
        let manifest = self.manifest(package, &workspace)?;
        write_if_changed(&folder.join("Cargo.toml"), &manifest)?;
        take_lock_file(&workspace, &folder)?;
        Ok(ModuleCrate {
            manifest: folder.join("Cargo.toml"),
            package_folder,
        })
    }

    /// The manifest: the package's dependencies that the sources name, and its features.
    fn manifest(&self, package: &Value, workspace: &Path) -> Result<String, BuildError> {
        let mut words = BTreeSet::new();
        for file in self.files {
            let text = fs::read_to_string(file).context("cannot read", file)?;
            words.extend(
                text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .map(str::to_owned),
            );
        }
        let mut dependencies = toml::Table::new();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let name = dependency["name"].as_str().unwrap_or_default();
            let key = dependency["rename"].as_str().unwrap_or(name);
            let is_ordinary = dependency["kind"].is_null();
            if is_ordinary && words.contains(&key.replace('-', "_")) {
                dependencies.insert(
                    key.to_owned(),
                    toml::Value::Table(dependency_entry(dependency, name, key)),
                );
            }
        }
        let own: BTreeSet<&str> = package["features"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(k, _)| k.as_str())
            .collect();
        let mut features = toml::Table::new();
        for (feature, implied) in package["features"].as_object().into_iter().flatten() {
            let kept = implied
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|f| f.as_str())
                .filter(|f| own.contains(f));
            features.insert(
                feature.clone(),
                toml::Value::Array(kept.map(|f| f.into()).collect()),
            );
        }
        let mut header = toml::Table::new();
        let name = package["name"].as_str().unwrap_or_default();
        header.insert("name".into(), format!("{name}-{}", self.suffix).into());
        header.insert("version".into(), "0.0.0".into());
        header.insert(
            "edition".into(),
            package["edition"].as_str().unwrap_or("2024").into(),
        );
        header.insert("publish".into(), false.into());
        let mut manifest = toml::Table::new();
        manifest.insert("package".into(), header.into());
        manifest.insert("features".into(), features.into());
        manifest.insert("dependencies".into(), dependencies.into());
        manifest.insert("workspace".into(), toml::Table::new().into());
        if let Some(root) = self.root {
            // The crate's own name is in those of its items.
            let targets = package["targets"].as_array().into_iter().flatten();
            let is_library = |target: &&Value| target["src_path"].as_str() == root.to_str();
            let name = targets
                .filter(is_library)
                .find_map(|target| target["name"].as_str());
            let mut library = toml::Table::new();
            if let Some(name) = name {
                library.insert("name".into(), name.replace('-', "_").into());
            }
            library.insert("path".into(), root.to_string_lossy().into_owned().into());
            manifest.insert("lib".into(), library.into());
        }
        if let Some(patch) = patches(workspace)? {
            manifest.insert("patch".into(), patch);
        }
        toml::to_string(&manifest).map_err(|e| BuildError::Setup(e.to_string()))
    }
}

/// Starts from the versions that the user's package is locked to, and does so again when they change. cargo prunes
/// its own copy to what the module needs.
fn take_lock_file(workspace: &Path, folder: &Path) -> Result<(), BuildError> {
    let lock = workspace.join("Cargo.lock");
    let Ok(text) = fs::read_to_string(&lock) else {
        return Ok(());
    };
    let seen = folder.join("user.lock");
    if fs::read_to_string(&seen).ok().as_deref() != Some(&text) {
        cache::write_atomically(&folder.join("Cargo.lock"), text.as_bytes())?;
        cache::write_atomically(&seen, text.as_bytes())?;
    }
    Ok(())
}

/// The module's name and all its files.
pub(crate) fn files_of(module: &Path) -> Result<(String, Vec<PathBuf>), BuildError> {
    let stem = module
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    let is_mod_rs = stem == "mod";
    let parent = module.parent().unwrap_or(Path::new("/"));
    let name = if is_mod_rs {
        parent
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default()
    } else {
        stem
    };
    if name == "lib" || name == "main" {
        return Err(BuildError::Setup(format!(
            "{} is a crate root; give a module file such as src/kernels.rs, or use `CudaBuilder::new` for a kernel crate",
            module.display()
        )));
    }
    let folder = if is_mod_rs {
        parent.to_path_buf()
    } else {
        parent.join(&name)
    };
    Ok((name, with_files_in(module, folder)))
}

/// The root of a package's library, and all files that can belong to it.
pub(crate) fn library_files(manifest: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let text = fs::read_to_string(manifest).context("cannot read", manifest)?;
    let table: toml::Table = text
        .parse()
        .map_err(|e| BuildError::Setup(format!("{}: {e}", manifest.display())))?;
    let root = table
        .get("lib")
        .and_then(|lib| lib.get("path")?.as_str())
        .unwrap_or("src/lib.rs");
    let folder = manifest.parent().unwrap_or(Path::new("/"));
    let root = folder
        .join(root)
        .canonicalize()
        .context("cannot find the library", folder.join(root))?;
    let beside = root.parent().unwrap_or(folder).to_path_buf();
    Ok(with_files_in(&root, beside))
}

/// A source file, and then all others in a folder.
fn with_files_in(file: &Path, folder: PathBuf) -> Vec<PathBuf> {
    let mut files = vec![file.to_path_buf()];
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
        {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && path != file {
                files.push(path);
            }
        }
    }
    files
}

fn metadata(toolchain: &Toolchain, package: &Path) -> Result<Value, BuildError> {
    let output = Command::new(&toolchain.cargo)
        .args([
            "metadata",
            "--no-deps",
            "--format-version=1",
            "--manifest-path",
        ])
        .arg(package.join("Cargo.toml"))
        .current_dir(package)
        .output()
        .context("cannot run", &toolchain.cargo)?;
    if !output.status.success() {
        return Err(BuildError::Setup(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|e| BuildError::Setup(format!("cargo metadata: {e}")))
}

/// One dependency of `cargo metadata`'s answer, in the words of a manifest.
fn dependency_entry(dependency: &Value, name: &str, key: &str) -> toml::Table {
    let mut entry = toml::Table::new();
    if key != name {
        entry.insert("package".into(), name.into());
    }
    if let Some(path) = dependency["path"].as_str() {
        entry.insert("path".into(), path.into());
    } else if let Some(git) = dependency["source"]
        .as_str()
        .and_then(|s| s.strip_prefix("git+"))
    {
        let (url, query) = git
            .split('#')
            .next()
            .unwrap_or(git)
            .split_once('?')
            .unwrap_or((git, ""));
        entry.insert("git".into(), url.into());
        if let Some((kind, value)) = query.split_once('=') {
            entry.insert(kind.into(), value.into());
        }
    }
    if let Some(version) = dependency["req"].as_str().filter(|v| *v != "*") {
        entry.insert("version".into(), version.into());
    } else if !entry.contains_key("path") && !entry.contains_key("git") {
        entry.insert("version".into(), "*".into());
    }
    entry.insert(
        "default-features".into(),
        dependency["uses_default_features"]
            .as_bool()
            .unwrap_or(true)
            .into(),
    );
    let features = dependency["features"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|f| f.as_str());
    entry.insert(
        "features".into(),
        toml::Value::Array(features.map(|f| f.into()).collect()),
    );
    entry
}

/// The workspace's `[patch]` section, with absolute paths.
fn patches(workspace: &Path) -> Result<Option<toml::Value>, BuildError> {
    let path = workspace.join("Cargo.toml");
    let text = fs::read_to_string(&path).context("cannot read", &path)?;
    let Ok(manifest) = text.parse::<toml::Table>() else {
        return Ok(None);
    };
    let Some(mut patch) = manifest.get("patch").cloned() else {
        return Ok(None);
    };
    for source in patch.as_table_mut().into_iter().flat_map(|t| t.iter_mut()) {
        for (_, entry) in source.1.as_table_mut().into_iter().flatten() {
            if let Some(relative) = entry
                .get("path")
                .and_then(|p| p.as_str())
                .map(str::to_owned)
                && let Some(entry) = entry.as_table_mut()
            {
                entry.insert(
                    "path".into(),
                    workspace
                        .join(relative)
                        .to_string_lossy()
                        .into_owned()
                        .into(),
                );
            }
        }
    }
    Ok(Some(patch))
}

/// Links the module's file and its folder of submodules into the generated source folder.
fn link(source: &Path, name: &str, module: &Path) -> Result<(), BuildError> {
    let parent = module.parent().unwrap_or(Path::new("/"));
    let links = if module.file_stem().is_some_and(|s| s == "mod") {
        vec![(source.join(name), parent.to_path_buf())]
    } else {
        vec![
            (source.join(format!("{name}.rs")), module.to_path_buf()),
            (source.join(name), parent.join(name)),
        ]
    };
    for (link, to) in links {
        if fs::read_link(&link).ok().as_deref() == Some(&to) && to.exists() {
            continue;
        }
        let _ = fs::remove_file(&link);
        if to.exists() {
            std::os::unix::fs::symlink(&to, &link).context("cannot link", &link)?;
        }
    }
    Ok(())
}

/// Keeps the file's time when nothing changes, so that cargo does not rebuild.
fn write_if_changed(path: &Path, text: &str) -> Result<(), BuildError> {
    if fs::read_to_string(path).ok().as_deref() == Some(text) {
        return Ok(());
    }
    cache::write_atomically(path, text.as_bytes())
}
