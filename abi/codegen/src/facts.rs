//! What a description states beside the header: constants and pinned versions. The compiler that reads the header proves them.

use std::fmt::Write;

use anyhow::Result;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::Type;

use crate::description::Description;
use crate::output::Files;

/// C text that compiles only if every stated fact is the header's.
pub fn proof(description: &Description) -> String {
    let mut text = String::new();
    for constant in &description.constants {
        let (name, value) = (&constant.name, constant.value);
        let _ = writeln!(
            text,
            "_Static_assert((long long)({name}) == {value}, \"{name} has another value\");"
        );
    }
    for (symbol, pinned) in &description.pinned {
        let (name, version) = (&pinned.name, pinned.version);
        let _ = writeln!(
            text,
            "_Static_assert(__builtin_types_compatible_p(__typeof__(&{symbol}), PFN_{name}_v{version}), \
             \"{symbol} is not version {version} of {name}\");"
        );
    }
    text
}

/// Adds the files of constants and of pinned versions.
pub fn add(files: &mut Files, description: &Description) -> Result<()> {
    let mut constants = TokenStream::new();
    for constant in &description.constants {
        let name = format_ident!("{}", constant.name);
        let about = format!(" {}", constant.about);
        let rust_type: Type = syn::parse_str(&constant.rust_type)?;
        let value = Literal::i64_unsuffixed(constant.value);
        let value = if constant.cast {
            quote! { #value as #rust_type }
        } else {
            quote! { #value }
        };
        constants.extend(quote! {
            #[doc = #about]
            pub const #name: #rust_type = #value;
        });
    }
    if !constants.is_empty() {
        files.add_module("constants", "Constants.", constants)?;
    }

    let pinned = description.pinned.iter().map(|(symbol, pinned)| {
        let (name, version) = (&pinned.name, Literal::u32_unsuffixed(pinned.version));
        quote! { PinnedSymbol::new(#symbol, #name, #version) }
    });
    let pinned: Vec<TokenStream> = pinned.collect();
    if !pinned.is_empty() {
        files.add_module(
            "pinned",
            "Functions that are looked up by name and version.",
            quote! {
                use crate::pinned::PinnedSymbol;

                /// All of them, by symbol.
                pub const PINNED_SYMBOLS: &[PinnedSymbol] = &[#(#pinned,)*];
            },
        )?;
    }
    Ok(())
}
