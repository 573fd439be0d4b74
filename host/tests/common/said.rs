//! What errors say, compared with a file: on a GPU, whose numbers and logs are others, only the driver's codes.

use std::fmt::Write as _;
use std::path::Path;

/// Compares `text` with the file, a path relative to the package. `WARPSMITH_BLESS=1` rewrites the file on the simulator.
pub fn compare_with_file(file: &str, text: &str, is_simulator: bool) {
    let difference = difference_from_file(file, text, is_simulator);
    assert!(difference.is_empty(), "{difference}");
}

/// What differs from the file; nothing if all is the same, on a GPU but for the wording.
pub fn difference_from_file(file: &str, text: &str, is_simulator: bool) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    match is_simulator {
        true => difference(&path, text),
        false => difference_of_codes(&path, text),
    }
}

/// The text with its addresses left out.
pub fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        write!(result, "0x..{rest}").unwrap();
    }
    result
}

fn difference(path: &Path, text: &str) -> String {
    if std::env::var_os("WARPSMITH_BLESS").is_some() {
        std::fs::write(path, text).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    if known == text {
        return String::new();
    }
    let (is, was) = (text.split("# "), known.split("# "));
    let (is, was) = is.zip(was).find(|(is, was)| is != was).unwrap_or_default();
    format!(
        "{is}\nis in {}, which WARPSMITH_BLESS=1 rewrites:\n{was}\n",
        path.display()
    )
}

fn difference_of_codes(path: &Path, text: &str) -> String {
    let known = std::fs::read_to_string(path).unwrap();
    let (is, was) = (text.split("# "), known.split("# "));
    if is.clone().count() != was.clone().count() {
        return format!("{} is of another length\n{text}", path.display());
    }
    is.zip(was)
        .filter(|(is, was)| code(is) != code(was))
        .map(|(is, was)| format!("{is}\nis on the simulator\n{was}\n"))
        .collect()
}

/// The first code in an error's text, with its number.
fn code(text: &str) -> Option<&str> {
    let begin = text.find("CUDA_ERROR_")?;
    let length = text[begin..].find(')')?;
    Some(&text[begin..begin + length])
}
