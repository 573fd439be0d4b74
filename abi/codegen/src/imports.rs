//! What a generated module takes from the others, by name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, UseTree};

/// C's types, which come from `core::ffi`.
pub const C_TYPES: [&str; 9] = [
    "c_char",
    "c_int",
    "c_longlong",
    "c_short",
    "c_uchar",
    "c_uint",
    "c_ulonglong",
    "c_ushort",
    "c_void",
];

/// Which module defines each name.
#[derive(Default)]
pub struct Definitions(BTreeMap<String, String>);

impl Definitions {
    /// Notes what a module defines.
    pub fn add(&mut self, module: &str, items: &TokenStream) -> Result<()> {
        let file: syn::File = syn::parse2(items.clone())
            .with_context(|| format!("the module {module} is not Rust"))?;
        for item in &file.items {
            let name = match item {
                Item::Struct(item) => item.ident.to_string(),
                Item::Union(item) => item.ident.to_string(),
                Item::Type(item) => item.ident.to_string(),
                Item::Const(item) => item.ident.to_string(),
                Item::Use(item) => match renamed(&item.tree) {
                    Some(name) => name,
                    None => continue,
                },
                _ => continue,
            };
            self.0.insert(name, module.to_owned());
        }
        Ok(())
    }

    /// The `use` lines of a module.
    pub fn imports(&self, module: &str, items: &TokenStream) -> String {
        let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in identifiers(items) {
            if C_TYPES.contains(&name.as_str()) {
                wanted.entry("core::ffi".into()).or_default().insert(name);
            } else if let Some(home) = self.0.get(&name).filter(|home| *home != module) {
                wanted
                    .entry(format!("super::{home}"))
                    .or_default()
                    .insert(name);
            }
        }
        let lines = wanted.into_iter().map(|(home, names)| {
            let names: Vec<String> = names.into_iter().collect();
            format!("use {home}::{{{}}};\n", names.join(", "))
        });
        lines.collect()
    }
}

/// `B` of `use self::A as B`.
fn renamed(tree: &UseTree) -> Option<String> {
    match tree {
        UseTree::Path(path) => renamed(&path.tree),
        UseTree::Rename(rename) => Some(rename.rename.to_string()),
        _ => None,
    }
}

/// All identifiers, each once.
fn identifiers(tokens: &TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = vec![tokens.to_token_stream()];
    while let Some(tokens) = rest.pop() {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    found.insert(name.to_string());
                }
                TokenTree::Group(group) => rest.push(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn a_module_names_what_it_takes_from_the_others() {
        let (low, high) = (
            quote! { pub struct Handle_st; pub use self::Handle_st as Handle; },
            quote! { pub struct Parameters { handle: *mut Handle, size: c_uint, own: Own } pub type Own = u8; },
        );
        let mut definitions = Definitions::default();
        definitions.add("low", &low).expect("Rust");
        definitions.add("high", &high).expect("Rust");
        assert_eq!(
            definitions.imports("high", &high),
            "use core::ffi::{c_uint};\nuse super::low::{Handle};\n"
        );
        assert_eq!(definitions.imports("low", &low), "");
    }
}
