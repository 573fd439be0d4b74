//! The user's cache folder: what is set up once per toolchain and shared by all projects.
//!
//! Everything in it is made under a temporary name and renamed when complete, so a killed set-up leaves
//! nothing half-made under the final name; a lock file keeps two processes from doing the same work.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::environment;
use crate::error::{BuildError, IoContext};

/// The cache folder: `$WARPSMITH_CACHE`, else `$XDG_CACHE_HOME/warpsmith`, else `~/.cache/warpsmith`.
pub fn folder() -> Result<PathBuf, BuildError> {
    let folder = environment::cache_folder()
        .ok_or_else(|| BuildError::Setup("no cache folder: set WARPSMITH_CACHE or HOME".into()))?;
    fs::create_dir_all(&folder).context("cannot create", &folder)?;
    folder.canonicalize().context("cannot find", &folder)
}

/// Makes `folder/name` once: if it is not there, `make` fills a temporary folder, which then gets the name.
///
/// Other processes wait meanwhile. `make` returns an error: nothing stays behind.
pub(crate) fn once(
    folder: &Path,
    name: &str,
    make: impl FnOnce(&Path) -> Result<(), BuildError>,
) -> Result<PathBuf, BuildError> {
    let target = folder.join(name);
    if target.exists() {
        return Ok(target);
    }
    let _lock = lock(&folder.join(format!("{name}.lock")))?;
    if target.exists() {
        return Ok(target); // another process made it while we waited
    }
    remove_leftovers(folder, name);
    let temporary = tempfile::Builder::new()
        .prefix(&format!("{name}.partial-"))
        .tempdir_in(folder)
        .context("cannot create a folder in", folder)?;
    make(temporary.path())?;
    let path = temporary.keep();
    fs::rename(&path, &target).context("cannot rename to", &target)?;
    Ok(target)
}

/// Deletes what killed set-ups left. Only called under the lock, so no process is working in them.
fn remove_leftovers(folder: &Path, name: &str) {
    let prefix = format!("{name}.partial-");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Takes an exclusive lock, waiting for it; it is released when the file is dropped (or the process dies).
pub(crate) fn lock(path: &Path) -> Result<File, BuildError> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .context("cannot open", path)?;
    file.lock().context("cannot lock", path)?;
    Ok(file)
}

/// Writes a file under a temporary name and renames it, so that readers see the old or the new one whole.
pub(crate) fn write_atomically(path: &Path, contents: &[u8]) -> Result<(), BuildError> {
    use std::io::Write;
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).context("cannot create", folder)?;
    let mut file =
        tempfile::NamedTempFile::new_in(folder).context("cannot create a file in", folder)?;
    file.write_all(contents).context("cannot write", path)?;
    // Temporary files are private by default; the result is an ordinary file.
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))
        .context("cannot write", path)?;
    file.persist(path)
        .map_err(|e| e.error)
        .context("cannot write", path)?;
    Ok(())
}

/// The file in a project's folder of the cache that names what the folder is for.
const ORIGIN: &str = "origin";

/// Makes a project's folder of the cache and notes that it belongs to the file `origin`.
pub(crate) fn project_folder(folder: &Path, origin: &Path) -> Result<(), BuildError> {
    let note = folder.join(ORIGIN);
    if note.is_file() {
        return Ok(());
    }
    write_atomically(&note, origin.as_os_str().as_encoded_bytes())
}

/// Removes the folders in `parent` of projects that are no longer there.
pub(crate) fn forget_vanished(parent: &Path) {
    for folder in fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
    {
        let Ok(origin) = fs::read_to_string(folder.join(ORIGIN)) else {
            continue;
        };
        if Path::new(&origin).exists() {
            continue;
        }
        // A project that is not there is not being built; a lock that is held all the same is respected.
        let lock = folder.with_extension("lock");
        let held = File::open(&lock).is_ok_and(|file| file.try_lock().is_err());
        if !held {
            let _ = fs::remove_dir_all(&folder);
            let _ = fs::remove_file(&lock);
        }
    }
}
