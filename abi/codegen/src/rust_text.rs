//! Rust source as text.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use quote::ToTokens;
use syn::Type;

/// A type as one writes it by hand, where C's types are in scope.
pub fn of_type(rust_type: &Type) -> String {
    of_tokens(rust_type)
        .replace("* mut ", "*mut ")
        .replace("* const ", "*const ")
}

/// Source that is not formatted yet, where C's types are in scope.
pub fn of_tokens(tokens: impl ToTokens) -> String {
    tokens
        .to_token_stream()
        .to_string()
        .replace(":: core :: ffi :: ", "")
        .replace("usize]", "]")
        .replace("usize ]", "]")
}

/// A macro that calls another one with a list of items.
pub fn list_macro(about: &str, name: &str, items: &[String]) -> String {
    let items: String = items
        .iter()
        .map(|item| format!("            {item}\n"))
        .collect();
    format!(
        "
/// {about}
#[macro_export]
macro_rules! {name} {{
    ($callback:ident) => {{
        $callback! {{
{items}        }}
    }};
}}
"
    )
}

/// Formats source as `cargo fmt` does, with documentation as comments, and with an empty line before each item that has attributes.
pub fn format(source: &str) -> Result<String> {
    let mut text = String::new();
    let mut last = String::new();
    for line in rustfmt(source)?.lines() {
        let documentation = DOC_ATTRIBUTES
            .iter()
            .find_map(|start| line.trim_start().strip_prefix(start)?.strip_suffix("\"]"));
        let line = match documentation {
            Some(documentation) => {
                let indentation = &line[..line.len() - line.trim_start().len()];
                format!("{indentation}///{documentation}")
            }
            None => line.to_owned(),
        };
        let starts_item = ["#[repr", "///", "crate::"]
            .iter()
            .any(|s| line.starts_with(s));
        let within_item = ["#", "//"].iter().any(|s| last.starts_with(s));
        if starts_item && !within_item && !last.is_empty() {
            text.push('\n');
        }
        text += &line;
        text.push('\n');
        last = line;
    }
    Ok(text)
}

/// How documentation looks as an attribute, before its text.
const DOC_ATTRIBUTES: [&str; 2] = ["#[doc = r\"", "#[doc = \""];

fn rustfmt(source: &str) -> Result<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start rustfmt")?;
    let mut input = rustfmt.stdin.take().context("its input is piped")?;
    let source = source.to_owned();
    let writer = std::thread::spawn(move || input.write_all(source.as_bytes()));
    let output = rustfmt.wait_with_output()?;
    let written = writer.join();
    if !output.status.success() || !matches!(written, Ok(Ok(()))) {
        bail!("rustfmt rejects the generated source");
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_by_hand() {
        for text in ["*mut CUstream", "*const *mut c_void", "usize", "CUresult"] {
            let source = text.replace("c_void", "::core::ffi::c_void");
            let parsed: Type = syn::parse_str(&source).expect("a type");
            assert_eq!(of_type(&parsed), text);
        }
    }

    #[test]
    fn formatted_source_stays_as_cargo_fmt_leaves_it() {
        let source = "#[doc = \" A code.\"] #[repr(C)] pub struct A { #[doc = r\" It.\"] pub b: u8 } #[repr(C)] #[repr(align(8))] pub struct C;";
        let text = format(source).expect("rustfmt");
        assert_eq!(
            text,
            "
/// A code.
#[repr(C)]
pub struct A {
    /// It.
    pub b: u8,
}

#[repr(C)]
#[repr(align(8))]
pub struct C;
"
            .trim_start()
        );
        assert_eq!(rustfmt(&text).expect("rustfmt"), text);
    }
}
