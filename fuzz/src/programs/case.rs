//! A program with its inputs, as a file: a Rust module with directives in the comment at its head.
//!
//! ```text
//! //! arch sm_80
//! //! overflow-checks on
//! //! input 1 2 ff 0 0 0          words in hexadecimal; several lines, several inputs
//! //! note ...                    for people
//! ```

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::project::{Settings, arch};

/// A program with what it is run with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// How it is compiled.
    pub settings: Settings,
    /// What it is run with: words, as many as the kind wants.
    pub inputs: Vec<Vec<u64>>,
    /// The module.
    pub source: String,
}

impl Case {
    /// The file's text.
    pub fn text(&self, note: &str) -> String {
        let mut text = String::new();
        let checks = if self.settings.overflow_checks {
            "on"
        } else {
            "off"
        };
        let _ = writeln!(text, "//! arch {}", self.settings.arch);
        let _ = writeln!(text, "//! overflow-checks {checks}");
        for input in &self.inputs {
            let words: Vec<String> = input.iter().map(|word| format!("{word:x}")).collect();
            let _ = writeln!(text, "//! input {}", words.join(" "));
        }
        for line in note.lines() {
            let _ = writeln!(text, "//! note {line}");
        }
        text + &self.source
    }

    /// The case of a file. Its comment stays in the source, so that lines have their numbers.
    pub fn read(file: &Path) -> Result<Case> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        Case::parse(&text).with_context(|| format!("in {}", file.display()))
    }

    fn parse(text: &str) -> Result<Case> {
        let (mut found_arch, mut checks, mut inputs) = (None, None, Vec::new());
        for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
            let line = line.trim();
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "arch" => found_arch = Some(arch(rest)?),
                "overflow-checks" => checks = Some(rest == "on"),
                "input" => {
                    let words = rest
                        .split(' ')
                        .map(|word| u64::from_str_radix(word, 16))
                        .collect::<Result<Vec<u64>, _>>();
                    inputs.push(words.with_context(|| format!("`{line}` is not words"))?);
                }
                "note" => {}
                _ => bail!("`{word}` is no directive: arch, overflow-checks, input, note"),
            }
        }
        if inputs.is_empty() {
            bail!("there is no input");
        }
        Ok(Case {
            settings: Settings {
                arch: found_arch.context("there is no arch")?,
                overflow_checks: checks.context("overflow-checks is neither on nor off")?,
            },
            inputs,
            source: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_builder::Arch;

    #[test]
    fn a_case_is_read_as_it_is_written() {
        let case = Case {
            settings: Settings {
                arch: Arch::Sm80,
                overflow_checks: true,
            },
            inputs: vec![vec![1, u64::MAX], vec![0, 0x10]],
            source: "pub fn program() {}\n".into(),
        };
        let text = case.text("found\nby chance");
        let read = Case::parse(&text).unwrap();
        assert_eq!((read.settings, &read.inputs), (case.settings, &case.inputs));
        assert_eq!(read.source, text);
        assert!(Case::parse("pub fn program() {}").is_err());
        assert!(Case::parse("//! arch sm_1\n").is_err());
    }
}
