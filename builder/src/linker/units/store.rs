//! Compiled units in the user's cache, by what they were compiled from.
//!
//! A file is written under a temporary name and renamed, and has a digest of its content: whatever else is there counts as nothing there.
//! The folder is kept small: what was not used for a month goes, and then what was used least recently, until the rest fits.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::compile::Compiled;
use crate::{cache, fingerprint};

/// How many bytes the folder may have after it has been swept.
const SIZE: u64 = 512 << 20;

/// For how long an unused unit stays.
const AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// How often the folder is swept at most, and how exactly uses are noted.
const PERIOD: Duration = Duration::from_secs(3600);

/// The file whose time is that of the last sweep.
const SWEPT: &str = "swept";

/// The folder of compiled units.
pub(super) struct Store {
    folder: PathBuf,
}

impl Store {
    /// The one in the user's cache; `None` if there is no cache.
    pub fn open() -> Option<Store> {
        let folder = cache::folder().ok()?.join("units");
        fs::create_dir_all(&folder).ok()?;
        Some(Store { folder })
    }

    /// The unit that was kept under this key, if the file is whole.
    pub fn get(&self, key: &str) -> Option<Compiled> {
        let path = self.folder.join(key);
        let content = fs::read(&path).ok()?;
        let (digest, body) = content.split_at_checked(DIGEST)?;
        if digest != fingerprint::short_hash(&body).as_bytes() {
            return None;
        }
        let compiled = serde_json::from_slice(body).ok()?;
        note_use(&path);
        Some(compiled)
    }

    /// Keeps a unit. That it could not be kept is no error: it is compiled again.
    pub fn put(&self, key: &str, compiled: &Compiled) {
        let Ok(body) = serde_json::to_vec(compiled) else {
            return;
        };
        let mut content = fingerprint::short_hash(&&body[..]).into_bytes();
        content.extend(body);
        let _ = cache::write_atomically(&self.folder.join(key), &content);
    }

    /// Removes what is too old or too much, if that was not done lately.
    pub fn sweep(&self) {
        let stamp = self.folder.join(SWEPT);
        let now = SystemTime::now();
        if age(&stamp, now).is_none_or(|age| age > PERIOD) {
            let _ = fs::write(&stamp, "");
            sweep(&self.folder, now, SIZE);
        }
    }
}

/// Characters of a digest.
const DIGEST: usize = 16;

/// How long ago a file was written, `None` if it is not there.
fn age(path: &Path, now: SystemTime) -> Option<Duration> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    Some(now.duration_since(modified).unwrap_or_default())
}

/// Gives the file today's time.
fn note_use(path: &Path) {
    let now = SystemTime::now();
    if age(path, now).is_some_and(|age| age > PERIOD)
        && let Ok(file) = File::options().write(true).open(path)
    {
        let _ = file.set_modified(now);
    }
}

/// Removes files that are older than a unit may be, and the oldest of the others until they have `size` bytes at most.
fn sweep(folder: &Path, now: SystemTime, size: u64) {
    let mut files: Vec<(Duration, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if let (Ok(metadata), Some(age)) = (entry.metadata(), age(&path, now))
            && entry.file_name() != SWEPT
        {
            files.push((age, metadata.len(), path));
        }
    }
    files.sort();
    let mut total = 0;
    for (age, length, path) in files {
        total += length;
        if age > AGE || total > size {
            // Another process may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linker::units::items::Items;

    fn compiled(head: &str) -> Compiled {
        Compiled {
            ptx: Items {
                head: head.into(),
                ..Items::default()
            },
            chains: None,
            take_launch: vec!["kernel".into()],
            panics: Vec::new(),
        }
    }

    #[test]
    fn only_whole_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store {
            folder: folder.path().into(),
        };
        assert!(store.get("key").is_none());
        store.put("key", &compiled(".version 8.0\n"));
        assert_eq!(store.get("key").unwrap().ptx.head, ".version 8.0\n");
        let path = folder.path().join("key");
        let whole = fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() - 1], &whole[..7], b""] {
            fs::write(&path, damaged).unwrap();
            assert!(store.get("key").is_none());
        }
        let mut changed = whole.clone();
        let at = changed
            .windows(3)
            .position(|bytes| bytes == b"8.0")
            .unwrap();
        changed[at] = b'9';
        fs::write(&path, changed).unwrap();
        assert!(store.get("key").is_none());
    }

    #[test]
    fn what_was_not_used_lately_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let day = Duration::from_secs(24 * 3600);
        for (name, days) in [("old", 31), ("third", 9), ("second", 5), ("first", 1)] {
            let path = folder.path().join(name);
            fs::write(&path, [0; 100]).unwrap();
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(now - days * day).unwrap();
        }
        sweep(folder.path(), now, 250);
        let left = |name| folder.path().join(name).exists();
        assert_eq!(
            ["first", "second", "third", "old"].map(left),
            [true, true, false, false]
        );
    }
}
