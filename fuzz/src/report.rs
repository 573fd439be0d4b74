//! What a round tells the process that started it: lines on standard output.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::folders;

/// A line of a round.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// From now on the case of this file is tried: if the process dies, it is why.
    Trying(&'a Path),
    /// The case of this file failed, and why.
    Found(&'a Path, &'a str),
    /// So many of something were tried.
    Count(&'a str, u64),
}

/// Separates a file from what is said of it.
const SEPARATOR: char = '\t';

impl Line<'_> {
    /// The line that this text is, if it is one.
    pub fn parse(text: &str) -> Option<Line<'_>> {
        let (word, rest) = text.split_once(' ')?;
        match word {
            "@trying" => Some(Line::Trying(Path::new(rest))),
            "@found" => {
                let (file, why) = rest.split_once(SEPARATOR)?;
                Some(Line::Found(Path::new(file), why))
            }
            "@count" => {
                let (unit, count) = rest.split_once(SEPARATOR)?;
                Some(Line::Count(unit, count.parse().ok()?))
            }
            _ => None,
        }
    }

    fn say(&self) {
        let text = match self {
            Line::Trying(file) => format!("@trying {}", file.display()),
            Line::Found(file, why) => {
                let why = why.replace('\n', " | ");
                format!("@found {}{SEPARATOR}{why}", file.display())
            }
            Line::Count(unit, count) => format!("@count {unit}{SEPARATOR}{count}"),
        };
        let mut out = std::io::stdout().lock();
        // What a kernel prints may have left a line open. The reader is gone only if this process is to end, too.
        let _ = writeln!(out, "\n{text}").and_then(|()| out.flush());
    }
}

/// Tells of a round, or of a replay of cases.
pub struct Report {
    kind: &'static str,
    /// What distinguishes the files of this round.
    name: String,
    failures: u32,
}

impl Report {
    /// Of a round with this seed.
    pub fn of_round(kind: &'static str, seed: u64) -> Self {
        Report {
            kind,
            name: seed.to_string(),
            failures: 0,
        }
    }

    /// How many cases failed.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Writes a case to a file that it can be told of by.
    pub fn write(&self, case: &str, extension: &str, text: &[u8]) -> Result<PathBuf> {
        let folder = folders::scratch()?.join("found");
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let file = folder.join(format!("{}_{}_{case}.{extension}", self.kind, self.name));
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }

    /// Says that a case is tried from now on.
    pub fn trying(&self, file: &Path) {
        Line::Trying(file).say();
    }

    /// Says that a case failed.
    pub fn found(&mut self, file: &Path, why: &str) {
        self.failures += 1;
        Line::Found(file, why).say();
    }

    /// Removes a case that was written: it was only tried, and is of no use any more.
    pub fn dismiss(&self, file: &Path) -> Result<()> {
        std::fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))
    }

    /// Says how many of something were tried.
    pub fn count(&self, unit: &str, count: u64) {
        Line::Count(unit, count).say();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_said() {
        let file = Path::new("/a folder/x.rs");
        assert_eq!(
            Line::parse("@trying /a folder/x.rs"),
            Some(Line::Trying(file))
        );
        assert_eq!(
            Line::parse("@found /a folder/x.rs\tit is wrong"),
            Some(Line::Found(file, "it is wrong"))
        );
        assert_eq!(
            Line::parse("@count runs of programs\t12"),
            Some(Line::Count("runs of programs", 12))
        );
        assert_eq!(Line::parse("what a program prints"), None);
        assert_eq!(Line::parse("@count runs"), None);
    }
}
