//! Names that a module does not have.

use std::fmt::{self, Display, Write as _};

use super::Code;

/// [`Error::NotFound`](crate::Error::NotFound).
#[derive(Debug)]
pub struct NotFound {
    /// The driver's function.
    pub call: &'static str,
    /// `kernel` or `variable`.
    pub what: &'static str,
    /// The name that was asked for.
    pub name: String,
    /// What the module has.
    pub present: Vec<String>,
}

impl Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: the module has no {} `{}`",
            self.call,
            Code::NOT_FOUND,
            self.what,
            self.name.escape_debug()
        )?;
        let close = self
            .present
            .iter()
            .min_by_key(|have| distance(have, &self.name));
        match close {
            Some(close) if distance(close, &self.name) <= 1 + self.name.len() / 3 => {
                write!(f, "\n  hint: did you mean `{close}`?")
            }
            Some(_) => write!(f, "\n  hint: it has {}", list(&self.present)),
            None => write!(
                f,
                "\n  hint: it has none at all; was the right file built into PTX?"
            ),
        }
    }
}

impl std::error::Error for NotFound {}

/// Levenshtein's distance, for "did you mean".
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn list(names: &[String]) -> String {
    let mut text = String::new();
    for (i, name) in names.iter().take(12).enumerate() {
        let _ = write!(text, "{}`{name}`", if i == 0 { "" } else { ", " });
    }
    if names.len() > 12 {
        let _ = write!(text, " and {} more", names.len() - 12);
    }
    text
}
