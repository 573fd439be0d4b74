//! The public entry points that can fail, from the library's sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub struct EntryPoint {
    /// Below the folder of the sources.
    pub file: String,
    /// Anything but `self`.
    pub takes_arguments: bool,
}

/// `Type::function`, or `file::function` outside of an `impl` block and in macros.
pub fn entry_points() -> BTreeMap<String, EntryPoint> {
    let mut found = BTreeMap::new();
    for file in files(&package().join("src")) {
        let text = std::fs::read_to_string(&file).expect("a source");
        let stem = stem(&file);
        let mut owner = stem.clone();
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            if line.starts_with("impl") || line.starts_with("unsafe impl") {
                owner = self_type(&until(&lines[i..], "{")).unwrap_or_else(|| stem.clone());
            } else if line.starts_with("macro_rules!") || line.starts_with("mod tests") {
                owner = stem.clone();
            }
            let Some(name) = function(line) else { continue };
            let signature = until(&lines[i..], "{");
            let returned = signature.rsplit_once("->").map_or("", |(_, type_)| type_);
            if !returned.contains("Result<") {
                continue;
            }
            let owner = match line.starts_with(' ') {
                true => &owner,
                false => &stem,
            };
            let entry_point = EntryPoint {
                file: in_sources(&file),
                takes_arguments: takes_arguments(&signature, name),
            };
            found.insert(format!("{owner}::{name}"), entry_point);
        }
    }
    found
}

fn in_sources(file: &Path) -> String {
    let inside = file.strip_prefix(package().join("src"));
    inside.expect("a source").to_string_lossy().into_owned()
}

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The file's name, or the folder's of a `mod.rs`.
fn stem(file: &Path) -> String {
    let of = |path: &Path| {
        path.file_stem()
            .map(|name| name.to_string_lossy().into_owned())
    };
    match of(file) {
        Some(name) if name == "mod" => file.parent().and_then(of),
        name => name,
    }
    .unwrap_or_default()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The name of the public function that begins in this line.
fn function(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const ").unwrap_or(rest);
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let rest = rest.strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

/// The lines up to `end`, as one.
fn until(lines: &[&str], end: &str) -> String {
    let mut text = String::new();
    for line in lines {
        let end = line.find(end);
        text.push_str(&line[..end.unwrap_or(line.len())]);
        text.push(' ');
        if end.is_some() {
            break;
        }
    }
    text
}

/// The last segment of the type's path that a block is for; none where it is a macro's parameter.
fn self_type(header: &str) -> Option<String> {
    let mut rest = header
        .trim_start_matches("unsafe ")
        .trim_start_matches("impl");
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        })?;
        rest = &rest[end + 1..];
    }
    let rest = rest.split(" where ").next()?;
    let rest = rest.rsplit(" for ").next()?;
    let path = rest.split('<').next()?.trim();
    let name = path.rsplit("::").next()?;
    (!name.is_empty() && !name.starts_with('$')).then(|| name.to_owned())
}

fn takes_arguments(signature: &str, name: &str) -> bool {
    let after = signature.split_once(name).map_or("", |(_, after)| after);
    // Bounds of type parameters may hold parentheses: the arguments begin at the first that is followed by a name or `self`.
    let Some(begin) = after.find('(') else {
        return true;
    };
    let inside = after[begin + 1..]
        .split(')')
        .next()
        .unwrap_or_default()
        .trim();
    !matches!(
        inside.trim_end_matches(','),
        "" | "self" | "&self" | "&mut self" | "mut self"
    )
}
