//! What of a source file the compiler sees: its lines without comments, and where they are.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::comments::{PieceKind, pieces};

/// The lines of a source file that have anything but comments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Code {
    /// Of the lines' text, each piece at its column.
    digest: u64,
    /// The numbers of the lines, from 1: the first and the count of those that follow each other.
    runs: Vec<(u32, u32)>,
}

impl Code {
    /// That of a file's text. There are blanks in the place of comments, and nothing at the ends of lines; comments of documentation are
    /// code, which macros may read.
    pub fn of(source: &str) -> Code {
        let mut lines = Lines::default();
        for (kind, piece) in pieces(source) {
            match kind {
                PieceKind::Newline => lines.end(),
                PieceKind::Comment if piece.starts_with("//") => {}
                PieceKind::Comment => {
                    for character in piece.chars() {
                        match character {
                            '\n' => lines.end(),
                            // A column is a number of bytes or of characters.
                            _ if !character.is_ascii() => lines.text.push(character),
                            _ => lines.text.push(' '),
                        }
                    }
                }
                PieceKind::Literal | PieceKind::Documentation => {
                    lines.text.push_str(piece);
                    lines.kept = lines.text.len();
                }
                PieceKind::Word | PieceKind::Other => lines.text.push_str(piece),
            }
        }
        lines.end();
        Code {
            digest: lines.digest.finish(),
            runs: lines.runs,
        }
    }

    /// Where the lines are in `new`; `None` unless it has the same lines.
    pub fn moved_to(&self, new: &Code) -> Option<MovedLines> {
        let count = |code: &Code| code.runs.iter().map(|(_, count)| count).sum::<u32>();
        if self.digest != new.digest || count(self) != count(new) {
            return None;
        }
        let mut moved = MovedLines::default();
        for (from, to) in self.numbers().zip(new.numbers()) {
            moved.to.resize(from as usize, 0);
            moved.to.push(to);
        }
        Some(moved)
    }

    /// The numbers of the lines.
    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.runs
            .iter()
            .flat_map(|&(first, count)| first..first + count)
    }
}

/// The lines as they come.
struct Lines {
    digest: DefaultHasher,
    runs: Vec<(u32, u32)>,
    /// The line's text so far; a piece of code in it may have several lines of the file.
    text: String,
    /// How much of it stays although it may be blank.
    kept: usize,
    /// The number of its first line.
    number: u32,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines {
            digest: DefaultHasher::new(),
            runs: Vec::new(),
            text: String::new(),
            kept: 0,
            number: 1,
        }
    }
}

impl Lines {
    fn end(&mut self) {
        let height = 1 + self.text.matches('\n').count() as u32;
        let end = self.text.trim_end_matches([' ', '\t', '\r']).len();
        self.text.truncate(end.max(self.kept));
        if !self.text.is_empty() {
            self.text.hash(&mut self.digest);
            match self.runs.last_mut() {
                Some((first, count)) if *first + *count == self.number => *count += height,
                _ => self.runs.push((self.number, height)),
            }
        }
        self.number += height;
        self.text.clear();
        self.kept = 0;
    }
}

/// Where a file's lines have gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MovedLines {
    /// The new number of each old one; 0 for those without code.
    to: Vec<u32>,
}

impl MovedLines {
    /// The new number of a line with code. No line at all, 0, stays 0.
    pub fn get(&self, line: u32) -> Option<u32> {
        match line {
            0 => Some(0),
            _ => (self.to.get(line as usize).copied()).filter(|&line| line != 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of `before` in `after`.
    fn moved(before: &str, after: &str) -> Option<Vec<u32>> {
        let moved = Code::of(before).moved_to(&Code::of(after))?;
        Some((1..).map_while(|line| moved.get(line)).collect())
    }

    #[test]
    fn lines_are_found_again() {
        for (before, after, lines) in [
            ("a\nb", "a // c\nb", &[1, 2][..]),
            ("a\nb", "a\n\n// c\nb", &[1, 4]),
            ("a\nb\n", "/* c\n d */\na \t\r\nb", &[3, 4]),
            ("a /* c */ b", "a /* d */ b\n\n", &[1]),
            ("/// a\nb", "/// a\n// c\nb", &[1, 3]),
            (
                "a\n\"b\n\n\nc\"\nd",
                "\na\n\n\"b\n\n\nc\"\nd",
                &[2, 4, 5, 6, 7, 8],
            ),
        ] {
            assert_eq!(
                moved(before, after).as_deref(),
                Some(lines),
                "{before:?} {after:?}"
            );
        }
        assert_eq!(
            Code::of("a\n\n\nb").moved_to(&Code::of("a\nb")).unwrap().to,
            [0, 1, 0, 0, 2]
        );
    }

    #[test]
    fn code_that_changes_is_other_code() {
        for (before, after) in [
            ("a", "b"),
            ("a b", "a  b"),
            ("a b", "a /* c */ b"),
            ("a /* ö */ b", "a /* o */ b"),
            ("a b", "a\nb"),
            ("\"a\n\nb\"", "\"a\nb\""),
            ("\"a // b\"", "\"a // c\""),
            ("/// a\nb", "/// c\nb"),
            ("/// a\nb", "/// a \nb"),
            ("a\nb", "a\nb\nb"),
        ] {
            assert_eq!(moved(before, after), None, "{before:?} {after:?}");
        }
    }
}
