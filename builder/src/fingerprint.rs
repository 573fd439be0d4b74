//! Remembers what PTX was made from, so that a build with nothing changed reads one file and runs nothing.
//!
//! The cache holds one file per kernel crate and set of options: the PTX, and every input with its size,
//! time and hash. An input is unchanged when size and time are, or else when its hash is, or if only comments have changed in it and all
//! else is at its line and column: then the compiler makes of it what it made before, lines included. Where comments and empty lines have
//! moved lines, but nothing else has changed, the compiler makes the same with other lines: these are put into the PTX (`moved_lines`),
//! if nothing else in it can depend on them (`line_readers`).
//!
//! The comments of sources count where somebody may read them: a build script of the user's own, or `include_str!`. (A warning is shown again
//! as it was, with the comments of then around it.)

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::cache;
use crate::code::{Code, MovedLines};
use crate::error::BuildError;
use crate::line_readers;
use crate::moved_lines::Moves;

/// The result of a build, with what it was made from.
#[derive(Serialize, Deserialize)]
pub(crate) struct Remembered {
    inputs: Vec<Input>,
    pub ptx: String,
    pub warnings: String,
    pub sources: Vec<PathBuf>,
    /// Whether somebody may read the comments of sources.
    comments_count: bool,
    lines: Option<Lines>,
}

/// What is to be known of a build whose PTX may be mended where lines have moved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lines {
    /// The folder in which rustc ran.
    pub folder: PathBuf,
    /// The folders of the sources of crates that are not the user's; without the device library.
    pub foreign: Vec<PathBuf>,
    /// The device library, which makes nothing of lines that is not known.
    pub device_library: Option<PathBuf>,
    /// All folders whose code is not the user's.
    pub libraries: Vec<PathBuf>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Input {
    path: PathBuf,
    /// None: the file was not there, and its appearance would be a change.
    state: Option<InputState>,
    /// What it is as source code, if it is any.
    source: Option<Source>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Source {
    /// Its text without its comments.
    code: Code,
    /// Whether it may have another source's text in it, or its own.
    includes_files: bool,
    /// Whether it may have numbers of lines in it.
    names_lines: bool,
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

/// A name of 128 bits for texts of megabytes, which [`short_hash`] takes too long for: so many that no two texts ever have one.
pub(crate) fn long_hash(texts: &[&str]) -> String {
    let [mut first, mut second] = [0xcbf2_9ce4_8422_2325_u64, 0x9e37_79b9_7f4a_7c15];
    let mut add = |word: u64| {
        first = (first ^ word)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(29);
        let product = u128::from(second ^ word) * 0xe703_7ed1_a0b4_28db;
        // The upper half depends on all bits; the addition keeps the whole from becoming 0 for good.
        second = (product as u64 ^ (product >> 64) as u64).wrapping_add(0x8ebc_6af0_9c88_c6e3);
    };
    for text in texts {
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        for word in words.iter().chain([&last]) {
            add(u64::from_le_bytes(*word));
        }
        add(text.len() as u64);
    }
    format!("{first:016x}{second:016x}")
}

/// Results are kept in a folder for each kernel crate or module, `origin`.
fn folder(origin: &Path) -> Result<PathBuf, BuildError> {
    Ok(cache::folder()?.join("ptx").join(short_hash(&origin)))
}

/// What an earlier build has made, if that is what a build would make now.
pub(crate) struct Recalled {
    pub remembered: Remembered,
    /// Whether lines have moved since then: the PTX has the new ones.
    pub is_mended: bool,
}

/// The inputs of an earlier build as they were then, by their paths.
#[derive(Default)]
pub(crate) struct Known(HashMap<PathBuf, Input>);

/// The remembered result, if no input has changed since, or nothing but lines has moved; else what is known of the inputs.
pub(crate) fn recall(origin: &Path, key: &str) -> Result<Recalled, Known> {
    let Some((file, mut remembered)) = read(origin, key) else {
        return Err(Known::default());
    };
    let mut moved = Vec::new();
    for (number, input) in remembered.inputs.iter().enumerate() {
        match compare(input, remembered.comments_count) {
            Comparison::Same => {}
            Comparison::Moved { now, lines } => moved.push((number, now, lines)),
            Comparison::Changed => return Err(Known::of(remembered)),
        }
    }
    let is_mended = !moved.is_empty();
    if is_mended {
        let files = moved
            .iter()
            .map(|(_, now, lines)| (&*now.path, lines))
            .collect();
        let Some(ptx) = mend(&remembered, files) else {
            return Err(Known::of(remembered));
        };
        remembered.ptx = ptx;
        for (number, now, _) in moved {
            remembered.inputs[number] = now;
        }
        // Without it the next build mends again.
        if let Ok(text) = serde_json::to_vec(&remembered) {
            let _ = cache::write_atomically(&file, &text);
        }
    }
    Ok(Recalled {
        remembered,
        is_mended,
    })
}

/// The file of a result, and what is in it.
fn read(origin: &Path, key: &str) -> Option<(PathBuf, Remembered)> {
    let file = folder(origin).ok()?.join(key);
    let remembered = serde_json::from_slice(&fs::read(&file).ok()?).ok()?;
    Some((file, remembered))
}

impl Known {
    fn of(remembered: Remembered) -> Known {
        let inputs = remembered.inputs.into_iter();
        Known(inputs.map(|input| (input.path.clone(), input)).collect())
    }
}

/// The remembered PTX with the new lines, if nothing else in it depends on lines.
fn mend(remembered: &Remembered, files: HashMap<&Path, &MovedLines>) -> Option<String> {
    let lines = remembered.lines.as_ref()?;
    let is_of_device_library = |path: &Path| {
        let library = lines.device_library.as_deref();
        library.is_some_and(|library| path.starts_with(library))
    };
    let names_lines = |input: &Input| {
        let source = input.source.as_ref();
        source.is_some_and(|source| source.names_lines) && !is_of_device_library(&input.path)
    };
    if files.keys().any(|path| is_of_device_library(path))
        || remembered.inputs.iter().any(names_lines)
        || lines.foreign.iter().any(|f| line_readers::is_in_folder(f))
    {
        return None;
    }
    Moves {
        files,
        folder: &lines.folder,
        libraries: &lines.libraries,
    }
    .mend(&remembered.ptx)
}

/// What a build has made, of which files.
pub(crate) struct Made<'a> {
    pub sources: &'a [PathBuf],
    pub ptx: &'a str,
    pub warnings: &'a str,
    /// Whether a build script of the user's has run, which may read sources.
    pub has_scripts: bool,
    /// `None` if the PTX cannot be mended where lines have moved.
    pub lines: Option<Lines>,
}

/// Remembers a result, unless an input was changed after `started`: then it is unknown which text was compiled.
pub(crate) fn remember(
    origin: &Path,
    key: &str,
    started: SystemTime,
    made: Made<'_>,
    known: &Known,
) -> Result<(), BuildError> {
    let Made {
        sources,
        ptx,
        warnings,
        has_scripts,
        lines,
    } = made;
    let inputs: Vec<Input> = inputs(sources)
        .into_iter()
        .map(|path| Input::read(path, known))
        .collect();
    // Lock files may be newer: cargo itself writes them.
    let started = nanoseconds(started);
    let is_newer = |input: &Input| input.state.is_some_and(|s| s.modified >= started);
    if inputs
        .iter()
        .any(|input| is_newer(input) && sources.contains(&input.path))
    {
        return Ok(());
    }
    let includes_files = |input: &Input| {
        let source = input.source.as_ref();
        source.is_some_and(|source| source.includes_files)
    };
    let comments_count = has_scripts || inputs.iter().any(includes_files);
    let remembered = Remembered {
        inputs,
        ptx: ptx.to_owned(),
        warnings: warnings.to_owned(),
        sources: sources.to_vec(),
        comments_count,
        lines,
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

/// What has become of an input.
enum Comparison {
    Same,
    /// Only lines have moved, to these.
    Moved {
        now: Input,
        lines: MovedLines,
    },
    Changed,
}

fn compare(input: &Input, comments_count: bool) -> Comparison {
    let Ok(metadata) = fs::metadata(&input.path) else {
        return match input.state {
            None => Comparison::Same,
            Some(_) => Comparison::Changed,
        };
    };
    let Some(old) = input.state else {
        return Comparison::Changed;
    };
    if old.is_of(&metadata) {
        return Comparison::Same;
    }
    let now = Input::read(input.path.clone(), &Known::default());
    if now.state.is_some_and(|new| new.hash == old.hash) {
        return Comparison::Same;
    }
    match input.source.as_ref().zip(now.source.as_ref()) {
        Some((old, new)) if !comments_count => {
            if old.code == new.code {
                return Comparison::Same;
            }
            match old.code.moved_to(&new.code) {
                Some(lines) => Comparison::Moved { now, lines },
                None => Comparison::Changed,
            }
        }
        _ => Comparison::Changed,
    }
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

impl InputState {
    /// Whether a file with this metadata counts as one that has not changed.
    fn is_of(self, metadata: &fs::Metadata) -> bool {
        metadata.len() == self.size && modified(metadata) == self.modified
    }
}

impl Input {
    /// The file as it is now.
    fn read(path: PathBuf, known: &Known) -> Input {
        let missing = |path| Input {
            path,
            state: None,
            source: None,
        };
        // The metadata first: what is written later has a later time.
        let Ok(metadata) = fs::metadata(&path) else {
            return missing(path);
        };
        if let Some(known) = known.0.get(&path)
            && known.state.is_some_and(|state| state.is_of(&metadata))
        {
            return known.clone();
        }
        let Ok(content) = fs::read(&path) else {
            return missing(path);
        };
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let text = std::str::from_utf8(&content).ok();
        Input {
            state: Some(InputState {
                size: metadata.len(),
                modified: modified(&metadata),
                hash: hasher.finish(),
            }),
            source: text.filter(|_| is_source(&path)).map(Source::of),
            path,
        }
    }
}

impl Source {
    fn of(text: &str) -> Source {
        Source {
            code: Code::of(text),
            includes_files: ["include_str", "include_bytes"]
                .iter()
                .any(|name| text.contains(name)),
            names_lines: line_readers::names_one(text),
        }
    }
}

fn modified(metadata: &fs::Metadata) -> u128 {
    metadata.modified().map(nanoseconds).unwrap_or(0)
}

fn nanoseconds(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH)
        .map(|d| d.as_nanos())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_every_text_is_in_both_halves_of_the_name() {
        let texts = ["define void @k() {\n", "", "ret void\n}"];
        let whole = long_hash(&texts);
        assert_eq!(whole.len(), 32);
        let differs = |other: &[&str]| {
            let name = long_hash(other);
            assert_ne!(name[..16], whole[..16], "{other:?}");
            assert_ne!(name[16..], whole[16..], "{other:?}");
        };
        for number in 0..texts.len() {
            for at in 0..texts[number].len() {
                for bit in 0..7 {
                    let mut bytes = texts[number].as_bytes().to_vec();
                    bytes[at] ^= 1 << bit;
                    let changed = String::from_utf8(bytes).unwrap();
                    let mut other = texts;
                    other[number] = &changed;
                    differs(&other);
                }
            }
        }
        differs(&["define void @k() {\n", "ret void\n}", ""]);
        differs(&["define void @k() {\n", "", "ret void\n}\0"]);
        differs(&["define void @k() {\nret void\n}"]);
    }
}
