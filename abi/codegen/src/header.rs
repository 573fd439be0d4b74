//! NVIDIA's headers as `bindgen` understands them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use bindgen::{Builder, EnumVariation, RustEdition, RustTarget};
use regex::Regex;
use syn::{ForeignItem, ForeignItemFn, Item};
use tempfile::TempDir;

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

/// What a header's functions and types are called.
pub struct Names {
    /// The functions, sorted.
    pub functions: Vec<String>,
    /// The types.
    pub types: Vec<String>,
}

impl Names {
    /// Whether there is a function of this name.
    pub fn has(&self, function: &String) -> bool {
        self.functions.binary_search(function).is_ok()
    }
}

/// The names in the headers in `include`.
pub fn names(description: &Description, include: &Path) -> Result<Names> {
    let source = Source::new(description, include, "")?;
    let all = parse(source.builder()?.allowlist_function(&description.function))?;
    let functions = functions(all).into_keys().collect();
    let mut types = Vec::new();
    if let Some(versions) = &description.versions {
        let wanted = source.builder()?.allowlist_type(&versions.types);
        for item in parse(wanted.allowlist_recursively(false))? {
            if let Item::Type(item) = item {
                types.push(item.ident.to_string());
            }
        }
    }
    Ok(Names { functions, types })
}

/// A C file that includes the headers.
struct Source<'a> {
    description: &'a Description,
    include: &'a Path,
    folder: TempDir,
}

impl<'a> Source<'a> {
    /// `proof` is C text behind the headers.
    fn new(description: &'a Description, include: &'a Path, proof: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let includes = description
            .headers
            .iter()
            .map(|header| format!("#include <{header}>\n"));
        let text = includes.collect::<String>() + proof;
        std::fs::write(folder.path().join("interface.h"), text)?;
        Ok(Self {
            description,
            include,
            folder,
        })
    }

    fn builder(&self) -> Result<Builder> {
        let path = self.folder.path().join("interface.h");
        let path = path.to_str().context("a path in UTF-8")?;
        Ok(builder(self.description, path, self.include))
    }
}

/// Reads the headers in `include`. `proof` is C text behind them whose assertions must hold.
pub fn read(
    description: &Description,
    include: &Path,
    names: Names,
    proof: &str,
) -> Result<Header> {
    let source = Source::new(description, include, proof)?;
    // What is in no list is still a name.
    let mut names = names.functions;
    let mut lists = Vec::new();
    for list in &description.functions {
        lists.push(take(&mut names, list)?);
    }

    let mut wanted = source.builder()?.allowlist_var("^$");
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
