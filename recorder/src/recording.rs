//! Files of what a device answered: a lzip stream with a few lines of text, a line for each program, and the bytes that these wrote.
//!
//! Bytes of one significance stand together, which compresses far better than values do: many programs differ in a few low bits.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use lzma_rust2::{LzipOptions, LzipReader, LzipWriter};

use crate::program::{Column, Program};

const FIRST_LINE: &str = "warpsmith recording 1";

/// What a device answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Which device it was.
    pub device: String,
    /// A program each.
    pub entries: Vec<Entry>,
}

/// What a program wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The program's name.
    pub name: String,
    /// Its [fingerprint](Program::fingerprint) when it was recorded.
    pub fingerprint: u64,
    /// How the bytes are made up.
    pub columns: Vec<Column>,
    /// What it wrote, or why it did not run.
    pub answer: Result<Vec<u8>, String>,
}

impl Entry {
    /// The answer of a program.
    pub fn new(program: &Program, answer: Result<Vec<u8>, String>) -> Entry {
        Entry {
            name: program.name.clone(),
            fingerprint: program.fingerprint(),
            columns: program.columns.clone(),
            answer: answer.map_err(|why| why.replace(['\n', '\t'], " ")),
        }
    }
}

/// The bytes of each column by their significance.
fn planes(columns: &[Column], bytes: &[u8]) -> Vec<u8> {
    let mut planes = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    for column in columns {
        let (values, others) = rest.split_at(column.bytes());
        let differences = column.is_smooth.then(|| differences(values, column.width));
        let values = differences.as_deref().unwrap_or(values);
        for byte in 0..column.width {
            planes.extend(values.iter().skip(byte).step_by(column.width));
        }
        rest = others;
    }
    planes
}

/// The inverse of [`planes`].
fn values(columns: &[Column], planes: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; planes.len()];
    let mut start = 0;
    for column in columns {
        let length = column.bytes();
        let values = &mut bytes[start..start + length];
        for (at, &plane) in planes[start..start + length].iter().enumerate() {
            values[at % column.count * column.width + at / column.count] = plane;
        }
        if column.is_smooth {
            extrapolate(values, column.width);
        }
        start += length;
    }
    bytes
}

/// A value of so many bytes.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// How far each value is from the continuation of the two before, with the sign in the lowest bit.
fn differences(values: &[u8], width: usize) -> Vec<u8> {
    let (mut one, mut two) = (0u64, 0u64);
    let unused = 64 - 8 * width as u32;
    let mut all = Vec::with_capacity(values.len());
    for value in values.chunks_exact(width).map(word) {
        let difference = value.wrapping_sub(one.wrapping_mul(2)).wrapping_add(two);
        let signed = (difference << unused) as i64 >> unused;
        all.extend_from_slice(&((signed << 1) ^ (signed >> 63)).to_le_bytes()[..width]);
        (one, two) = (value, one);
    }
    all
}

/// The inverse of [`differences`].
fn extrapolate(values: &mut [u8], width: usize) {
    let (mut one, mut two) = (0u64, 0u64);
    for bytes in values.chunks_exact_mut(width) {
        let folded = word(bytes);
        let difference = (folded >> 1) ^ (folded & 1).wrapping_neg();
        let value = difference
            .wrapping_add(one.wrapping_mul(2))
            .wrapping_sub(two);
        bytes.copy_from_slice(&value.to_le_bytes()[..width]);
        (one, two) = (word(bytes), one);
    }
}

fn column_text(columns: &[Column]) -> String {
    let texts: Vec<String> = columns
        .iter()
        .map(|column| {
            let smooth = if column.is_smooth { "s" } else { "" };
            format!("{}x{}{smooth}", column.count, column.width)
        })
        .collect();
    texts.join("+")
}

fn parse_columns(text: &str) -> Option<Vec<Column>> {
    let column = |text: &str| {
        let (count, width) = text.split_once('x')?;
        let (width, is_smooth) = match width.strip_suffix('s') {
            Some(width) => (width, true),
            None => (width, false),
        };
        Some(Column {
            is_smooth,
            ..Column::new(width.parse().ok()?, count.parse().ok()?)
        })
    };
    text.split('+').map(column).collect()
}

impl Recording {
    /// Writes it, first beside the file, so that there is never half of one.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, file: &Path, level: u32) -> Result<()> {
        let mut text = format!("{FIRST_LINE}\n{}\n{}\n", self.device, self.entries.len());
        let mut blob = Vec::new();
        for entry in &self.entries {
            let (columns, why) = match &entry.answer {
                Ok(bytes) => {
                    blob.extend(planes(&entry.columns, bytes));
                    (column_text(&entry.columns), "")
                }
                Err(why) => ("-".to_owned(), why.as_str()),
            };
            let _ = writeln!(
                text,
                "{:016x}\t{columns}\t{}\t{why}",
                entry.fingerprint, entry.name
            );
        }
        let mut options = LzipOptions::with_preset(level);
        options.lzma_options.dict_size = 1 << 26;
        let mut writer = LzipWriter::new(Vec::new(), options);
        writer.write_all(text.as_bytes())?;
        writer.write_all(&blob)?;
        let compressed = writer.finish()?;
        let beside = file.with_extension("new");
        fs::write(&beside, compressed)
            .with_context(|| format!("could not write {}", beside.display()))?;
        fs::rename(&beside, file).with_context(|| format!("could not make {}", file.display()))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It is not there, or no recording.
    pub fn read(file: &Path) -> Result<Recording> {
        let at = || format!("{} is no recording", file.display());
        let compressed =
            fs::read(file).with_context(|| format!("could not read {}", file.display()))?;
        let mut bytes = Vec::new();
        LzipReader::new(compressed.as_slice())
            .read_to_end(&mut bytes)
            .with_context(at)?;
        Self::parse(&bytes).with_context(at)
    }

    fn parse(bytes: &[u8]) -> Result<Recording> {
        let mut rest = bytes;
        let mut line = || -> Result<String> {
            let end = rest
                .iter()
                .position(|&byte| byte == b'\n')
                .context("it ends early")?;
            let line = String::from_utf8(rest[..end].to_vec())?;
            rest = &rest[end + 1..];
            Ok(line)
        };
        if line()? != FIRST_LINE {
            bail!("it begins with something else than `{FIRST_LINE}`");
        }
        let device = line()?;
        let count: usize = line()?.parse()?;
        let mut lines = Vec::new();
        for _ in 0..count {
            lines.push(line()?);
        }
        let mut entries = Vec::new();
        for line in lines {
            let parts: Vec<&str> = line.split('\t').collect();
            let [fingerprint, columns, name, why] = parts[..] else {
                bail!("`{line}` has not four parts");
            };
            let fingerprint = u64::from_str_radix(fingerprint, 16)?;
            let (columns, answer) = if columns == "-" {
                (Vec::new(), Err(why.to_owned()))
            } else {
                let columns = parse_columns(columns)
                    .with_context(|| format!("`{columns}` tells no sizes"))?;
                let length = columns.iter().map(Column::bytes).sum();
                let (own, others) = rest.split_at_checked(length).context("it ends early")?;
                rest = others;
                let values = values(&columns, own);
                (columns, Ok(values))
            };
            entries.push(Entry {
                name: name.to_owned(),
                fingerprint,
                columns,
                answer,
            });
        }
        Ok(Recording { device, entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_comes_back_from_its_file() {
        let columns = vec![Column::new(4, 3), Column::new(1, 2)];
        let entry = |name: &str, answer| Entry {
            name: name.to_owned(),
            fingerprint: 5,
            columns: columns.clone(),
            answer,
        };
        let recording = Recording {
            device: "a device".to_owned(),
            entries: vec![
                entry("one", Ok((0..14).collect())),
                Entry {
                    columns: Vec::new(),
                    ..entry("two", Err("it is refused".to_owned()))
                },
                entry("three", Ok(vec![7; 14])),
            ],
        };
        let file = std::env::temp_dir().join(format!("recording-{}.lz", std::process::id()));
        recording.write(&file, 6).unwrap();
        assert_eq!(Recording::read(&file).unwrap(), recording);
        std::fs::write(&file, b"LZIP").unwrap();
        assert!(Recording::read(&file).is_err());
        std::fs::remove_file(&file).unwrap();
    }
}
