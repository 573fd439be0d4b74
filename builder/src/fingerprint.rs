//! Remembers what PTX was made from, so that a build with nothing changed reads one file and runs nothing.
//!
//! The cache holds one file per kernel crate and set of options: the PTX, and every input with its size,
//! time and hash. An input is unchanged when size and time are, or else when its hash is, or if only comments have changed in it and all
//! else is at its line and column: then the compiler makes of it what it made before, lines included. A comment that moves lines counts
//! as a change: its lines are in the PTX.
//!
//! The comments of sources count where somebody may read them: a build script of the user's own, or `include_str!`. (A warning is shown again
//! as it was, with the comments of then around it.)

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::cache;
use crate::comments::without_comments;
use crate::error::BuildError;

/// The result of a build, with what it was made from.
#[derive(Serialize, Deserialize)]
pub(crate) struct Remembered {
    inputs: Vec<Input>,
    pub ptx: String,
    pub warnings: String,
    pub sources: Vec<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Input {
    path: PathBuf,
    /// None: the file was not there, and its appearance would be a change.
    state: Option<InputState>,
    /// The hash of a source without its comments, if these do not count.
    code: Option<u64>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq, Clone, Copy)]
struct InputState {
    size: u64,
    modified: u128,
    hash: u64,
}

/// The file name of a build: everything that decides the PTX and is not a file.
pub(crate) fn key(parts: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    of_builder().hash(&mut hasher);
    parts.hash(&mut hasher);
    format!("{:016x}.json", hasher.finish())
}

/// The builder's own fingerprint: another version of it makes other PTX of the same input.
pub(crate) fn of_builder() -> &'static str {
    env!("WARPSMITH_BUILDER_FINGERPRINT")
}

/// A name of fixed length for something long.
pub(crate) fn short_hash(value: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Results are kept in a folder for each kernel crate or module, `origin`.
fn folder(origin: &Path) -> Result<PathBuf, BuildError> {
    Ok(cache::folder()?.join("ptx").join(short_hash(&origin)))
}

/// The remembered result, if no input has changed since.
pub(crate) fn recall(origin: &Path, key: &str) -> Option<Remembered> {
    let text = fs::read(folder(origin).ok()?.join(key)).ok()?;
    let remembered: Remembered = serde_json::from_slice(&text).ok()?;
    remembered
        .inputs
        .iter()
        .all(unchanged)
        .then_some(remembered)
}

/// What a build has made, of which files.
pub(crate) struct Made<'a> {
    pub sources: &'a [PathBuf],
    pub ptx: &'a str,
    pub warnings: &'a str,
    /// Whether a build script of the user's has run, which may read sources.
    pub has_scripts: bool,
}

/// Remembers a result, unless an input was changed after `started`: then it is unknown which text was compiled.
pub(crate) fn remember(
    origin: &Path,
    key: &str,
    started: SystemTime,
    made: &Made<'_>,
) -> Result<(), BuildError> {
    let Made {
        sources,
        ptx,
        warnings,
        has_scripts,
    } = *made;
    let comments_count = has_scripts
        || sources
            .iter()
            .any(|source| is_source(source) && includes_files(source));
    let inputs: Vec<Input> = inputs(sources)
        .into_iter()
        .map(|path| Input {
            state: state(&path),
            code: (!comments_count && is_source(&path))
                .then(|| code(&path))
                .flatten(),
            path,
        })
        .collect();
    // Lock files may be newer: cargo itself writes them.
    let started = nanoseconds(started);
    let is_newer = |input: &Input| input.state.is_some_and(|s| s.modified >= started);
    if inputs
        .iter()
        .any(|input| sources.contains(&input.path) && is_newer(input))
    {
        return Ok(());
    }
    let remembered = Remembered {
        inputs,
        ptx: ptx.to_owned(),
        warnings: warnings.to_owned(),
        sources: sources.to_vec(),
    };
    let text = serde_json::to_vec(&remembered).map_err(|e| BuildError::Setup(e.to_string()))?;
    let folder = folder(origin)?;
    cache::project_folder(&folder, origin)?;
    cache::write_atomically(&folder.join(key), &text)
}

/// The sources, and every manifest, lock file and cargo configuration that has a say in how they are compiled.
fn inputs(sources: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = sources.to_vec();
    for source in sources {
        for folder in source.ancestors().skip(1) {
            for name in [
                "Cargo.toml",
                "Cargo.lock",
                ".cargo/config.toml",
                ".cargo/config",
                "rust-toolchain.toml",
            ] {
                all.push(folder.join(name));
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

/// The existing inputs, for cargo to watch.
pub(crate) fn watched(sources: &[PathBuf]) -> Vec<PathBuf> {
    inputs(sources)
        .into_iter()
        .filter(|path| path.is_file())
        .collect()
}

fn unchanged(input: &Input) -> bool {
    let Ok(metadata) = fs::metadata(&input.path) else {
        return input.state.is_none();
    };
    let Some(old) = input.state else { return false };
    let is_same = metadata.len() == old.size
        && (modified(&metadata) == old.modified
            || state(&input.path).is_some_and(|new| new.hash == old.hash));
    is_same || input.code.is_some() && code(&input.path) == input.code
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// Whether a source may have another one's text in it, or its own.
fn includes_files(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| {
        ["include_str", "include_bytes"]
            .iter()
            .any(|name| text.contains(name))
    })
}

/// The hash of a source without its comments.
fn code(path: &Path) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    without_comments(&fs::read_to_string(path).ok()?).hash(&mut hasher);
    Some(hasher.finish())
}

fn state(path: &Path) -> Option<InputState> {
    let metadata = fs::metadata(path).ok()?;
    let mut hasher = DefaultHasher::new();
    fs::read(path).ok()?.hash(&mut hasher);
    Some(InputState {
        size: metadata.len(),
        modified: modified(&metadata),
        hash: hasher.finish(),
    })
}

fn modified(metadata: &fs::Metadata) -> u128 {
    metadata.modified().map(nanoseconds).unwrap_or(0)
}

fn nanoseconds(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH)
        .map(|d| d.as_nanos())
        .unwrap_or(0)
}
