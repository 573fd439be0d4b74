//! Which symbol a name stands for since which version of CUDA, as `cuGetProcAddress` is asked: data of the header's function types, whose
//! names have a function's name and the version that introduced its signature (`PFN_cuMemAlloc_v3020`).
//!
//! Symbols of a name are numbered (`cuMemAlloc`, `cuMemAlloc_v2`), the oldest first, and so are its versions; the newest symbol belongs
//! to the newest version, and so on backwards. The compiler that reads the header proves that each pair has one signature.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use regex::Regex;

use crate::description::Description;
use crate::header::Names;
use crate::output::Files;

/// For each name: the versions that changed its signature, oldest first, each with its symbol.
pub type Versions = BTreeMap<String, Vec<(u32, String)>>;

/// The versions of all names.
pub fn find(description: &Description, names: &Names) -> Result<Versions> {
    let Some(rule) = &description.versions else {
        return Ok(Versions::new());
    };
    let pattern = Regex::new(&format!("^(?:{})$", rule.types))?;
    let mut introduced: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for name in &names.types {
        if let Some(parts) = pattern.captures(name) {
            let (_, [function, version]) = parts.extract();
            let version = version
                .parse()
                .with_context(|| format!("{name} has no version"))?;
            introduced.entry(function).or_default().push(version);
        }
    }
    let mut versions = Versions::new();
    for (name, mut introduced) in introduced {
        introduced.sort_unstable();
        let numbered = (2..).map(|number| format!("{name}_v{number}"));
        let symbols: Vec<String> = std::iter::once(name.to_owned())
            .filter(|symbol| names.has(symbol))
            .chain(numbered.take_while(|symbol| names.has(symbol)))
            .collect();
        let pairs = introduced.into_iter().rev().zip(symbols.into_iter().rev());
        let mut pairs: Vec<(u32, String)> = pairs.collect();
        pairs.reverse();
        versions.insert(name.to_owned(), pairs);
    }
    for also in &rule.also {
        let pairs = versions.entry(also.name.clone()).or_default();
        pairs.push((also.version, also.symbol.clone()));
        pairs.sort_unstable();
    }
    Ok(versions)
}

/// C text that compiles only if each symbol has the signature of its version.
pub fn proof(description: &Description, versions: &Versions) -> String {
    let mut text = String::new();
    let stated = description.versions.iter().flat_map(|rule| &rule.also);
    let is_stated = |name: &str, version: u32| {
        stated
            .clone()
            .any(|also| also.name == name && also.version == version)
    };
    for (name, pairs) in versions {
        for (version, symbol) in pairs {
            if !is_stated(name, *version) {
                let _ = writeln!(
                    text,
                    "_Static_assert(__builtin_types_compatible_p(__typeof__(&{symbol}), PFN_{name}_v{version}), \
                     \"{symbol} is not version {version} of {name}\");"
                );
            }
        }
    }
    text
}

/// Adds the file of versions.
pub fn add(files: &mut Files, versions: &Versions) -> Result<()> {
    if versions.is_empty() {
        return Ok(());
    }
    let rows = versions.iter().map(|(name, pairs)| {
        let pairs = pairs.iter().map(|(version, symbol)| {
            let version = Literal::u32_unsuffixed(*version);
            quote! { (#version, #symbol) }
        });
        quote! { (#name, &[#(#pairs),*]) }
    });
    let rows: Vec<TokenStream> = rows.collect();
    files.add_module(
        "versions",
        "Which symbol a name stands for since which version of CUDA.",
        quote! {
            /// A name, and its symbols with the version of CUDA since which the name stands for each, oldest first.
            pub type NameVersions = (&'static str, &'static [(c_int, &'static str)]);

            /// All names, sorted.
            pub const VERSIONS: &[NameVersions] = &[#(#rows),*];
        },
    )
}
