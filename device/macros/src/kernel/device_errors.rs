//! Errors that only the compilation for the GPU has, reported where the kernel is compiled for the host.
//!
//! The build script of a package whose kernels do not compile leaves them in files (`builder/src/deferred.rs`): one a line, with
//! the place of the `#[kernel]` that is to report it, and its own.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;

/// The variable with the files, with tabs between.
const VARIABLE: &str = "WARPSMITH_DEVICE_ERRORS";

/// An error that this kernel is to report.
struct DeviceError {
    /// None: without a place.
    file: Option<PathBuf>,
    line: usize,
    column: usize,
    /// The file as people know it.
    shown: String,
    text: String,
}

/// The errors that the kernel around `item` is to report, as `compile_error!` at their place if it is in `item`.
pub fn report(item: &TokenStream) -> TokenStream {
    let Ok(files) = std::env::var(VARIABLE) else {
        return TokenStream::new();
    };
    let attribute = Span::call_site().unwrap();
    let Some(own) = attribute
        .local_file()
        .and_then(|file| file.canonicalize().ok())
    else {
        return TokenStream::new();
    };
    let errors = files
        .split('\t')
        .filter_map(|file| fs::read_to_string(file).ok())
        .flat_map(|text| {
            text.lines()
                .filter_map(|line| read(line, &own, attribute.line()))
                .collect::<Vec<_>>()
        });
    errors
        .map(|error| {
            let place = (error.file.as_ref() == Some(&own))
                .then(|| token_at(item, error.line, error.column))
                .flatten();
            let text = match (place, &error.file) {
                (None, Some(_)) => format!(
                    "{}:{}:{}: {}",
                    error.shown, error.line, error.column, error.text
                ),
                _ => error.text,
            };
            let place = place.unwrap_or_else(Span::call_site);
            quote_spanned! { place=> ::core::compile_error! { #text } }
        })
        .collect()
}

/// Reads a line, if it is for the kernel whose attribute stands there.
fn read(line: &str, kernel: &Path, at: usize) -> Option<DeviceError> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [
        file_of_kernel,
        line_of_kernel,
        file,
        line,
        column,
        shown,
        text,
    ] = fields[..]
    else {
        return None;
    };
    (Path::new(file_of_kernel) == kernel && line_of_kernel.parse() == Ok(at)).then_some(())?;
    Some(DeviceError {
        file: (!file.is_empty()).then(|| file.into()),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        shown: shown.to_owned(),
        text: unescaped(text),
    })
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => break,
            },
            other => other,
        });
    }
    plain
}

/// The token at a place: the last in the line that does not begin behind the column.
fn token_at(tokens: &TokenStream, line: usize, column: usize) -> Option<Span> {
    let mut found: Option<(usize, Span)> = None;
    let mut open: Vec<TokenTree> = tokens.clone().into_iter().collect();
    while let Some(token) = open.pop() {
        let span = match &token {
            TokenTree::Group(group) => {
                open.extend(group.stream());
                group.span_open()
            }
            token => token.span(),
        };
        let start = span.unwrap();
        let is_nearer = found.is_none_or(|(nearest, _)| nearest < start.column());
        if start.line() == line && start.column() <= column && is_nearer {
            found = Some((start.column(), span));
        }
    }
    found.map(|(_, span)| span)
}
