//! Where a panic happens: constants that the compiler makes of each place in the source that may panic.
//!
//! A unit names them without a value. So a kernel whose lines have only moved is compiled no second time, and its panics tell the new lines:
//! the values are written when the units are put together.

use std::fmt::Write;

use warpsmith_signature::Panic;

use super::text::{Definition, Kind, ModuleText, Piece};
use crate::linker::call_chains::Numbered;
use crate::linker::symbols::LOCATION;

/// A `core::panic::Location`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PanicLocation {
    /// The file's name, and the zero behind it if there is one.
    file: Vec<u8>,
    /// Bytes of the name.
    length: u64,
    line: u32,
    column: u32,
}

/// Such a constant's type, as LLVM writes it.
pub(super) const TYPE: &str = "<{ ptr, [16 x i8] }>";

impl PanicLocation {
    /// The location that a variable is, `None` if it is something else. What looks the same is taken for one: its value is only not known to
    /// LLVM.
    pub fn of(module: &ModuleText<'_>, number: usize) -> Option<PanicLocation> {
        let definition = &module.definitions[number];
        let value = private_constant(definition)?
            .strip_prefix(TYPE)?
            .strip_prefix(" <{ ptr @")?;
        let (_, value) = value.split_once(", [16 x i8] c\"")?;
        let (bytes, end) = value.split_once('"')?;
        let bytes = unescape(bytes);
        if end.trim_end() != " }>, align 8" || bytes.len() != 16 {
            return None;
        }
        let file = definition
            .pieces
            .iter()
            .skip(1)
            .find_map(|piece| match piece {
                Piece::Symbol { definition, .. } if *definition != number => Some(*definition),
                _ => None,
            })?;
        let (_, file) = private_constant(&module.definitions[file])?.split_once(" x i8] c\"")?;
        let file = unescape(file.split_once('"')?.0);
        let word = |n: usize| {
            bytes[4 * n..]
                .first_chunk()
                .map(|word| u32::from_le_bytes(*word))
        };
        let length = u64::from(word(0)?) | u64::from(word(1)?) << 32;
        let is_file = file.strip_suffix(b"\0").unwrap_or(&file).ends_with(b".rs")
            && file.strip_suffix(b"\0").unwrap_or(&file).len() as u64 == length;
        is_file.then_some(PanicLocation {
            length,
            line: word(2)?,
            column: word(3)?,
            file,
        })
    }
}

impl PanicLocation {
    /// A panic there, of which more is not known.
    pub fn panic(&self) -> Panic {
        let file = self.file.strip_suffix(b"\0").unwrap_or(&self.file);
        Panic {
            file: String::from_utf8_lossy(file).into_owned(),
            line: self.line,
            column: self.column,
            ..Panic::default()
        }
    }
}

/// What a constant without an address of its own is: its type, its value, and its alignment.
pub(super) fn private_constant<'a>(definition: &Definition<'a>) -> Option<&'a str> {
    if definition.kind != Kind::Variable {
        return None;
    }
    let rest = definition.text[definition.symbol.len()..].strip_prefix(" = ")?;
    ["internal ", "private "].iter().find_map(|linkage| {
        rest.strip_prefix(linkage)?
            .strip_prefix("unnamed_addr constant ")
    })
}

/// The bytes of a string of LLVM's, where `\0A` is a byte.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        let escaped = (first == b'\\')
            .then(|| std::str::from_utf8(others.get(..2)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() {
            &others[2..]
        } else {
            others
        };
    }
    bytes
}

/// The name of a location in a unit or in the whole module, from 0.
pub(super) fn name(number: usize) -> String {
    format!("{LOCATION}{number}")
}

/// The locations of a module, each once.
#[derive(Default)]
pub(super) struct PanicLocations {
    files: Numbered<Vec<u8>>,
    locations: Numbered<PanicLocation>,
}

impl PanicLocations {
    /// The name of a location in the PTX.
    pub fn name(&mut self, location: &PanicLocation) -> String {
        self.files.number(location.file.clone());
        name(self.locations.number(location.clone()) as usize - 1)
    }

    /// The constants in PTX.
    pub fn write(&mut self) -> String {
        let mut text = String::new();
        for (number, file) in self.files.values().iter().enumerate() {
            let bytes: Vec<String> = file.iter().map(u8::to_string).collect();
            let _ = writeln!(
                text,
                ".global .align 1 .b8 $file_{number}[{}] = {{{}}};",
                file.len(),
                bytes.join(", ")
            );
        }
        for (number, location) in self.locations.values().iter().enumerate() {
            let file = self.files.number(location.file.clone()) - 1;
            let _ = writeln!(
                text,
                ".global .align 8 .u64 {}[3] = {{generic($file_{file}), {}, {}}};",
                name(number),
                location.length,
                u64::from(location.column) << 32 | u64::from(location.line)
            );
        }
        text
    }
}
