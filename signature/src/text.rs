//! The signature as text: one comment line each for the kernels and variables, between a line with the version and one with the digest.

use std::fmt::Write;

use crate::digest::digest;
use crate::encoding::{decode, encode};
use crate::{Kernel, Panic, Reading, Signature, Variable};

const FIRST: &str = "// warpsmith signature ";
const VERSION: &str = "4";
const KERNEL: &str = "// kernel ";
const VARIABLE: &str = "// variable ";
const PANIC: &str = "// panic ";
const LAST: &str = "// digest ";

/// The text with the signature at its end.
///
/// # Safety
///
/// The text does what the signature says, and each of its kernels what its record promises: the host library launches it from safe code.
pub unsafe fn sign(ptx: &str, signature: &Signature) -> String {
    let mut text = String::with_capacity(ptx.len() + 256 * signature.kernels.len());
    text.push_str(ptx);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{FIRST}{VERSION}");
    for Variable { name, bytes } in &signature.variables {
        let _ = writeln!(text, "{VARIABLE}{name} {bytes}");
    }
    write_panics(&mut text, &signature.common_panics);
    for kernel in &signature.kernels {
        let _ = writeln!(
            text,
            "{KERNEL}{} {} {} {}",
            kernel.name,
            u32::from(kernel.takes_launch),
            list(&kernel.record),
            list(&kernel.variables)
        );
        write_panics(&mut text, &kernel.panics);
    }
    let _ = writeln!(text, "{LAST}{:016x}", digest(&text));
    text
}

/// One line each; they belong to the kernel in the line before them, or, before all kernels, to all.
fn write_panics(text: &mut String, panics: &[Panic]) {
    for panic in panics {
        let (file, message) = (encode(&panic.file), encode(&panic.message));
        let has_values = u32::from(panic.has_values);
        let (line, column) = (panic.line, panic.column);
        let _ = writeln!(text, "{PANIC}{file} {line} {column} {has_values} {message}");
    }
}

/// What the text's signature says.
pub fn read(ptx: &str) -> Reading {
    let Some(start) = ptx.rfind(FIRST) else {
        return Reading::Absent;
    };
    match parse(ptx, start) {
        Ok(signature) => Reading::Signed(signature),
        Err(reason) => Reading::Unusable(reason),
    }
}

/// The text without its signature, if it has one.
///
/// ```
/// use warpsmith_signature::{Signature, sign, unsigned};
///
/// // SAFETY: this text is launched by nobody.
/// let signed = unsafe { sign(".version 7.0\n", &Signature::default()) };
/// assert_eq!(unsigned(&signed), ".version 7.0\n");
/// ```
pub fn unsigned(ptx: &str) -> &str {
    &ptx[..ptx.rfind(FIRST).unwrap_or(ptx.len())]
}

const CHANGED: &str = "the text was changed after it was built";

fn parse(ptx: &str, start: usize) -> Result<Signature, &'static str> {
    let lines = ptx[start..].trim_end();
    let end = start + lines.rfind('\n').ok_or(CHANGED)? + 1;
    let version = lines
        .lines()
        .next()
        .and_then(|line| line.strip_prefix(FIRST));
    if version != Some(VERSION) {
        return Err("it was built by another version of warpsmith");
    }
    let stated = ptx[end..].trim_end().strip_prefix(LAST).ok_or(CHANGED)?;
    if stated != format!("{:016x}", digest(&ptx[..end])) {
        return Err(CHANGED);
    }
    let mut signature = Signature::default();
    for line in ptx[start..end].lines().skip(1) {
        if let Some(words) = line.strip_prefix(VARIABLE) {
            signature.variables.push(variable(words).ok_or(CHANGED)?);
        } else if let Some(words) = line.strip_prefix(KERNEL) {
            signature.kernels.push(kernel(words).ok_or(CHANGED)?);
        } else if let Some(words) = line.strip_prefix(PANIC) {
            let panics = match signature.kernels.last_mut() {
                Some(kernel) => &mut kernel.panics,
                None => &mut signature.common_panics,
            };
            panics.push(panic(words).ok_or(CHANGED)?);
        } else {
            return Err(CHANGED);
        }
    }
    Ok(signature)
}

fn variable(line: &str) -> Option<Variable> {
    let (name, bytes) = line.split_once(' ')?;
    Some(Variable {
        name: name.into(),
        bytes: bytes.parse().ok()?,
    })
}

fn panic(line: &str) -> Option<Panic> {
    let mut words = line.split(' ');
    let panic = Panic {
        file: decode(words.next()?)?,
        line: words.next()?.parse().ok()?,
        column: words.next()?.parse().ok()?,
        has_values: flag(words.next()?)?,
        message: decode(words.next()?)?,
    };
    words.next().is_none().then_some(panic)
}

fn flag(word: &str) -> Option<bool> {
    match word {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn kernel(line: &str) -> Option<Kernel> {
    let mut words = line.split(' ');
    let kernel = Kernel {
        name: words.next()?.into(),
        takes_launch: flag(words.next()?)?,
        record: numbers(words.next()?)?,
        variables: numbers(words.next()?)?,
        panics: Vec::new(),
    };
    words.next().is_none().then_some(kernel)
}

/// Numbers in base 16; `-` for none.
fn list(numbers: &[u32]) -> String {
    if numbers.is_empty() {
        return "-".into();
    }
    let words: Vec<String> = numbers.iter().map(|number| format!("{number:x}")).collect();
    words.join(".")
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    if text == "-" {
        return Some(Vec::new());
    }
    text.split('.')
        .map(|number| u32::from_str_radix(number, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature() -> Signature {
        Signature {
            kernels: vec![
                Kernel {
                    name: "saxpy".into(),
                    record: vec![0x314b_5357, 1, 0, u32::MAX],
                    takes_launch: true,
                    variables: vec![1, 0],
                    panics: vec![panic_at(7), panic_at(8)],
                },
                Kernel {
                    name: "nothing".into(),
                    record: vec![],
                    takes_launch: false,
                    variables: vec![],
                    panics: vec![],
                },
            ],
            variables: vec![
                Variable {
                    name: "TAPS".into(),
                    bytes: 16,
                },
                Variable {
                    name: "_$x".into(),
                    bytes: 1 << 40,
                },
            ],
            common_panics: vec![panic_at(1)],
        }
    }

    fn panic_at(line: u32) -> Panic {
        Panic {
            file: "src/a file.rs".into(),
            line,
            column: 5,
            message: "the len is \u{1}\nbut the index is \u{2}".into(),
            has_values: line.is_multiple_of(2),
        }
    }

    fn signed(text: &str) -> String {
        // SAFETY: nothing launches the text.
        unsafe { sign(text, &signature()) }
    }

    #[test]
    fn what_is_written_is_read() {
        for text in ["", ".version 7.0", ".version 7.0\n"] {
            let signed = signed(text);
            assert!(signed.starts_with(text));
            assert_eq!(read(&signed), Reading::Signed(signature()));
            assert_eq!(unsigned(&signed).trim_end(), text.trim_end());
            // Editors and shells do this.
            assert_eq!(read(signed.trim_end()), Reading::Signed(signature()));
            assert_eq!(read(&(signed + "\n")), Reading::Signed(signature()));
        }
    }

    #[test]
    fn every_change_is_found() {
        let text = signed(".version 7.0\n.visible .entry saxpy() { ret; }\n");
        // The newline at the end does not count.
        for at in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(!matches!(read(&changed), Reading::Signed(_)), "byte {at}");
            assert!(
                !matches!(read(&text[..at]), Reading::Signed(_)),
                "cut at {at}"
            );
        }
        assert!(matches!(
            read(&format!("{text}.visible .entry other() {{ ret; }}")),
            Reading::Unusable(_)
        ));
        // Two builds put together.
        assert!(matches!(
            read(&format!("{text}{text}")),
            Reading::Unusable(_)
        ));
    }

    #[test]
    fn another_version_is_named() {
        let text = signed("").replace("signature 4", "signature 5");
        assert_eq!(
            read(&text),
            Reading::Unusable("it was built by another version of warpsmith")
        );
    }
}
