//! Mends the PTX of an earlier build where nothing but the lines of the code has moved.
//!
//! Lines stand in the PTX as places of instructions (`.loc`), in the constants that panics name (`units::locations`), and in its signature, which
//! has the places of the other panics. A file's lines keep their order when they move, and different ones stay different: so whatever was decided by comparing them is as it was.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use warpsmith_signature::Reading;

use crate::code::MovedLines;

/// Where lines have moved.
pub(crate) struct Moves<'a> {
    /// The files, by absolute paths without links.
    pub files: HashMap<&'a Path, &'a MovedLines>,
    /// The folder that relative paths in PTX start from.
    pub folder: &'a Path,
    /// Folders whose files need not exist. None of their lines have moved.
    pub libraries: &'a [PathBuf],
}

/// What paths of the standard library begin with that rustc's makers have compiled.
const OF_RUSTC: &str = "/rustc/";

impl Moves<'_> {
    /// The PTX with the new lines; `None` if it has something that is unknown.
    pub fn mend(&self, ptx: &str) -> Option<String> {
        let Reading::Signed(mut signature) = warpsmith_signature::read(ptx) else {
            return None;
        };
        let own = signature
            .kernels
            .iter_mut()
            .flat_map(|kernel| &mut kernel.panics);
        for panic in own.chain(&mut signature.common_panics) {
            panic.line = moved(self.file(&panic.file)?, panic.line)?;
        }
        let ptx = warpsmith_signature::unsigned(ptx);
        let mended = Mender {
            moves: self,
            files: self.named_files(ptx)?,
            panic_files: HashMap::new(),
            text: String::with_capacity(ptx.len() + ptx.len() / 64),
        }
        .mend(ptx)?;
        // SAFETY: the text was signed with this signature, and differs in lines of the source alone.
        Some(unsafe { warpsmith_signature::sign(&mended, &signature) })
    }

    /// The moves in the files that locations name by number.
    fn named_files(&self, ptx: &str) -> Option<HashMap<u32, Option<&MovedLines>>> {
        ptx.lines()
            .filter_map(|line| line.strip_prefix("\t.file\t"))
            .map(|file| {
                let (number, name) = file.split_once(' ')?;
                let name = unquoted(name.strip_prefix('"')?.strip_suffix('"')?)?;
                Some((number.parse().ok()?, self.file(&name)?))
            })
            .collect()
    }

    /// The moves in a file, `None` if nobody knows which file it is.
    fn file(&self, name: &str) -> Option<Option<&MovedLines>> {
        let path = self.folder.join(name);
        match path.canonicalize() {
            Ok(path) => Some(self.files.get(&*path).copied()),
            Err(_) => {
                let is_library = path.starts_with(OF_RUSTC)
                    || self.libraries.iter().any(|folder| path.starts_with(folder));
                is_library.then_some(None)
            }
        }
    }
}

struct Mender<'m> {
    moves: &'m Moves<'m>,
    /// Those that locations name.
    files: HashMap<u32, Option<&'m MovedLines>>,
    /// Those that panics name, by the constants with their names.
    panic_files: HashMap<String, Option<&'m MovedLines>>,
    text: String,
}

impl Mender<'_> {
    fn mend(mut self, ptx: &str) -> Option<String> {
        let mut is_inline = false;
        for line in ptx.split_inclusive('\n') {
            match line {
                "\t// begin inline asm\n" => is_inline = true,
                "\t// end inline asm\n" => is_inline = false,
                _ => {}
            }
            if is_inline {
                self.text.push_str(line);
            } else if let Some(location) = line.strip_prefix("\t.loc\t") {
                self.location(location)?;
            } else if line.starts_with(".global .align 8 .u64 $location_") {
                self.panic_location(line)?;
            } else {
                if let Some(file) = line.strip_prefix(".global .align 1 .b8 $file_") {
                    self.panic_file(file)?;
                }
                self.text.push_str(line);
            }
        }
        Some(self.text)
    }

    /// `1 12 5`, or `2 40 9, function_name $L__info_string0, inlined_at 1 12 5`.
    fn location(&mut self, text: &str) -> Option<()> {
        self.text.push_str("\t.loc\t");
        let (own, call) = match text.split_once("inlined_at ") {
            Some((own, call)) => (own, Some(call)),
            None => (text, None),
        };
        self.file_and_line(own)?;
        if let Some(call) = call {
            self.text.push_str("inlined_at ");
            self.file_and_line(call)?;
        }
        Some(())
    }

    /// Text that begins with the numbers of a file and a line.
    fn file_and_line(&mut self, text: &str) -> Option<()> {
        let (file, rest) = text.split_once(' ')?;
        let (line, rest) = rest.split_once(' ')?;
        let line = moved(*self.files.get(&file.parse().ok()?)?, line.parse().ok()?)?;
        let _ = write!(self.text, "{file} {line} {rest}");
        Some(())
    }

    /// `0[5] = {97, 46, 114, 115, 0};`, as `units::locations` writes it.
    fn panic_file(&mut self, text: &str) -> Option<()> {
        let (number, bytes) = text.split_once('[')?;
        let bytes = bytes.split_once("{")?.1.split_once('}')?.0;
        let bytes: Vec<u8> = bytes
            .split(", ")
            .map(|byte| byte.parse().ok())
            .collect::<Option<_>>()?;
        let name = String::from_utf8(bytes).ok()?;
        let moved = self.moves.file(name.trim_end_matches('\0'))?;
        self.panic_files.insert(format!("$file_{number}"), moved);
        Some(())
    }

    /// `.global .align 8 .u64 $location_0[3] = {generic($file_0), 4, 21474836492};`, with the column in the upper half of the last word.
    fn panic_location(&mut self, text: &str) -> Option<()> {
        let (head, place) = text.rsplit_once(", ")?;
        let file = head.split_once("{generic(")?.1.split_once(')')?.0;
        let place: u64 = place.strip_suffix("};\n")?.parse().ok()?;
        let line = moved(*self.panic_files.get(file)?, place as u32)?;
        let place = place >> 32 << 32 | u64::from(line);
        let _ = writeln!(self.text, "{head}, {place}}};");
        Some(())
    }
}

/// Where a line is now.
fn moved(file: Option<&MovedLines>, line: u32) -> Option<u32> {
    match file {
        Some(file) => file.get(line),
        None => Some(line),
    }
}

/// A path that stood between quotes (see `line_directives::quoted`).
fn unquoted(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        rest = others;
        match (first, rest) {
            (b'\\', [b'0'..=b'7', ..]) => {
                let digits = std::str::from_utf8(rest.get(..3)?).ok()?;
                bytes.push(u8::from_str_radix(digits, 8).ok()?);
                rest = &rest[3..];
            }
            (b'\\', [escaped, others @ ..]) => {
                bytes.push(*escaped);
                rest = others;
            }
            _ => bytes.push(first),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::code::Code;

    const OLD: &str = "a\nb\nc\n";
    const NEW: &str = "a\n\n// d\nb\nc\n";

    /// The text with its lines moved from [`OLD`] to [`NEW`] in `own.rs`, which is file 1 and what panics name; file 2 is `other.rs`, and
    /// file 3 is a library's.
    fn mend(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let own = root.join("own \"r\".rs");
        for path in [&own, &root.join("other.rs")] {
            fs::write(path, NEW).unwrap();
        }
        let lines = Code::of(OLD).moved_to(&Code::of(NEW)).unwrap();
        let moves = Moves {
            files: [(&*own, &lines)].into(),
            folder: &root,
            libraries: &["/no/such/library".into()],
        };
        let place = root.display();
        let files = format!(
            "\t.file\t1 \"{place}/own \\\"r\\\".rs\"\n\t.file\t2 \"{place}/other.rs\"\n\t.file\t3 \"/no/such/library/a.rs\"\n"
        );
        let signature = warpsmith_signature::Signature::default();
        // SAFETY: nothing launches the text.
        let signed = unsafe { warpsmith_signature::sign(&format!("{text}{files}"), &signature) };
        let mended = moves.mend(&signed)?;
        assert_eq!(
            warpsmith_signature::read(&mended),
            Reading::Signed(signature)
        );
        let mended = warpsmith_signature::unsigned(&mended);
        Some(mended.strip_suffix(&files).unwrap().to_owned())
    }

    #[test]
    fn lines_of_the_file_move() {
        for (before, after) in [
            ("\t.loc\t1 2 7\n", "\t.loc\t1 4 7\n"),
            ("\t.loc\t1 0 0\n", "\t.loc\t1 0 0\n"),
            ("\t.loc\t2 2 7\n", "\t.loc\t2 2 7\n"),
            ("\t.loc\t3 99 7\n", "\t.loc\t3 99 7\n"),
            (
                "\t.loc\t2 2 7, function_name $L__info_string0, inlined_at 1 3 9\n",
                "\t.loc\t2 2 7, function_name $L__info_string0, inlined_at 1 5 9\n",
            ),
            (
                "\t// begin inline asm\n\t.loc\t1 2 7\n\t// end inline asm\n\t.loc\t1 1 7\n",
                "\t// begin inline asm\n\t.loc\t1 2 7\n\t// end inline asm\n\t.loc\t1 1 7\n",
            ),
        ] {
            assert_eq!(mend(before).as_deref(), Some(after));
        }
    }

    #[test]
    fn places_of_panics_move() {
        let text = |line: u64| {
            let bytes: Vec<String> = b"own \"r\".rs\0".iter().map(u8::to_string).collect();
            format!(
                ".global .align 1 .b8 $file_0[11] = {{{}}};\n\
                 .global .align 8 .u64 $location_0[3] = {{generic($file_0), 10, {}}};\n",
                bytes.join(", "),
                5 << 32 | line
            )
        };
        assert_eq!(mend(&text(3)), Some(text(5)));
    }

    #[test]
    fn what_is_unknown_is_left_to_the_compiler() {
        // A line without code, a file without a number, and one that is nowhere.
        for text in [
            "\t.loc\t1 4 7\n",
            "\t.loc\t9 1 7\n",
            "\t.file\t4 \"/no/such/file.rs\"\n",
        ] {
            assert_eq!(mend(text), None);
        }
    }
}
