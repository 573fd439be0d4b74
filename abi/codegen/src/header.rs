//! NVIDIA's headers as `bindgen` understands them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use bindgen::{Builder, EnumVariation, RustEdition, RustTarget};
use regex::Regex;
use syn::{ForeignItem, ForeignItemFn, Item};

use crate::description::{Description, FunctionList};

/// What of a header is wanted.
pub struct Header {
    /// Types, in the header's order.
    pub types: Vec<Item>,
    /// The functions of each list of the description, in the list's order.
    pub lists: Vec<Vec<ForeignItemFn>>,
    /// The names of all other functions, sorted.
    pub other_functions: Vec<String>,
}

/// Reads the headers in `include`. `proof` is C text behind them whose assertions must hold.
pub fn read(description: &Description, include: &Path, proof: &str) -> Result<Header> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("interface.h");
    let includes = description
        .headers
        .iter()
        .map(|header| format!("#include <{header}>\n"));
    std::fs::write(&path, includes.collect::<String>() + proof)?;
    let path = path.to_str().context("a path in UTF-8")?;
    let builder = || builder(description, path, include);

    // All functions are named first: what is in no list is still a name.
    let all = parse(builder().allowlist_function(&description.function))?;
    let mut names: Vec<String> = functions(all).into_keys().collect();
    let mut lists = Vec::new();
    for list in &description.functions {
        lists.push(take(&mut names, list)?);
    }

    let mut wanted = builder().allowlist_var("^$");
    for name in lists.iter().flatten() {
        wanted = wanted.allowlist_function(format!("^{name}$"));
    }
    if let Some(types) = &description.types.also {
        wanted = wanted.allowlist_type(types);
    }
    let items = parse(wanted)?;
    let (foreign, types) = items
        .into_iter()
        .partition(|item| matches!(item, Item::ForeignMod(_)));
    let mut functions = functions(foreign);
    let mut signatures = |name: &String| {
        functions
            .remove(name)
            .with_context(|| format!("the header's function {name} has no signature"))
    };
    Ok(Header {
        types,
        lists: lists
            .iter()
            .map(|list| list.iter().map(&mut signatures).collect())
            .collect::<Result<_>>()?,
        other_functions: names,
    })
}

fn builder(description: &Description, header: &str, include: &Path) -> Builder {
    let own_headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let defines = description.defines.iter().map(|name| format!("-D{name}"));
    bindgen::builder()
        .header(header)
        .clang_args(["-nostdinc", "--target=x86_64-unknown-linux-gnu"])
        .clang_arg(format!("-I{}", include.display()))
        .clang_arg(format!("-isystem{}", own_headers.display()))
        .clang_args(defines)
        .generate_comments(false)
        .layout_tests(false)
        .default_enum_style(EnumVariation::NewType {
            is_bitfield: false,
            is_global: false,
        })
        .prepend_enum_name(false)
        .derive_default(true)
        .use_core()
        .rust_target(RustTarget::stable(85, 0).unwrap_or_default())
        .rust_edition(RustEdition::Edition2024)
        .formatter(bindgen::Formatter::None)
}

fn parse(builder: Builder) -> Result<Vec<Item>> {
    let bindings = builder
        .generate()
        .map_err(|error| anyhow!("the header cannot be read: {error}"))?;
    Ok(syn::parse_file(&bindings.to_string())?.items)
}

/// The functions by name.
fn functions(items: Vec<Item>) -> BTreeMap<String, ForeignItemFn> {
    let blocks = items.into_iter().filter_map(|item| match item {
        Item::ForeignMod(block) => Some(block.items),
        _ => None,
    });
    blocks
        .flatten()
        .filter_map(|item| match item {
            ForeignItem::Fn(function) => Some((function.sig.ident.to_string(), function)),
            _ => None,
        })
        .collect()
}

/// Moves the names that the list describes out of `names`.
fn take(names: &mut Vec<String>, list: &FunctionList) -> Result<Vec<String>> {
    let Some(pattern) = &list.pattern else {
        for name in &list.names {
            let Ok(index) = names.binary_search(name) else {
                bail!("the header has no function {name}, or a list before has it");
            };
            names.remove(index);
        }
        return Ok(list.names.clone());
    };
    let pattern = Regex::new(&format!("^(?:{pattern})$"))?;
    let (taken, rest) = names.drain(..).partition(|name| pattern.is_match(name));
    *names = rest;
    Ok(taken)
}
