//! The files of types, one a topic.
//!
//! `bindgen`'s items are regrouped: all values of an enumeration into one block, and all defaults into one statement, which the crate
//! expands.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use regex::Regex;
use syn::{Expr, Ident, ImplItem, Item, ItemImpl, Type, UseTree};

use crate::description::Description;
use crate::header::Header;
use crate::output::Files;

/// What one file holds.
#[derive(Default)]
struct Contents {
    items: TokenStream,
    /// Types whose default is all zeros.
    zeros: Vec<Ident>,
}

/// Adds the files of types.
pub fn add(files: &mut Files, description: &Description, header: &Header) -> Result<()> {
    let mut values = values(&header.types)?;
    let topics = description
        .topics
        .iter()
        .map(|topic| Ok(Regex::new(&format!("^(?:{})", topic.types))?))
        .collect::<Result<Vec<_>>>()?;
    let mut contents: Vec<Contents> = topics.iter().map(|_| Contents::default()).collect();
    for item in &header.types {
        let name = name(item)?;
        let topic = topics
            .iter()
            .position(|topic| topic.is_match(&name.to_string()))
            .with_context(|| format!("the type {name} belongs to no topic"))?;
        let contents = &mut contents[topic];
        match item {
            Item::Impl(item) if item.trait_.is_some() => contents.zeros.push(name),
            Item::Impl(_) => {}
            item => {
                if is_opaque(item) {
                    contents.items.extend(opaque(&name));
                } else {
                    item.to_tokens(&mut contents.items);
                }
                if let Some(values) = values.remove(&name) {
                    contents.items.extend(enumeration(&name, &values));
                    if name == description.results {
                        contents.items.extend(names_of_results(&name, &values));
                    }
                }
            }
        }
    }
    for (topic, contents) in description.topics.iter().zip(contents) {
        let Contents { mut items, zeros } = contents;
        if items.is_empty() {
            bail!("the topic {} has no types", topic.name);
        }
        if !zeros.is_empty() {
            items.extend(quote! { crate::zeros::default_is_zeros!(#(#zeros),*); });
        }
        files.add_module(&topic.name, &topic.about, items)?;
    }
    Ok(())
}

/// The type that an item defines, names or implements something for.
fn name(item: &Item) -> Result<Ident> {
    Ok(match item {
        Item::Struct(item) => item.ident.clone(),
        Item::Union(item) => item.ident.clone(),
        Item::Type(item) => item.ident.clone(),
        Item::Impl(item) => implementing_type(item)?,
        Item::Use(item) => match &item.tree {
            UseTree::Path(path) => match &*path.tree {
                UseTree::Rename(rename) => rename.ident.clone(),
                _ => bail!("an unexpected `use`: {}", item.to_token_stream()),
            },
            _ => bail!("an unexpected `use`: {}", item.to_token_stream()),
        },
        item => bail!("an unexpected item: {}", item.to_token_stream()),
    })
}

fn implementing_type(item: &ItemImpl) -> Result<Ident> {
    match &*item.self_ty {
        Type::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    }
    .with_context(|| format!("an unexpected `impl`: {}", item.to_token_stream()))
}

/// Whether this is a structure that the header only declares.
fn is_opaque(item: &Item) -> bool {
    match item {
        Item::Struct(item) => item
            .fields
            .iter()
            .all(|field| field.ident.as_ref().is_some_and(|name| name == "_unused")),
        _ => false,
    }
}

/// A structure that there are only pointers to.
fn opaque(name: &Ident) -> TokenStream {
    quote! {
        #[repr(C)]
        #[derive(Debug)]
        pub struct #name {
            _unused: [u8; 0],
        }
    }
}

/// A value of an enumeration.
struct Value {
    name: Ident,
    /// As the enumeration's constructor is called with it.
    expression: Expr,
}

/// The values of each enumeration, in the header's order.
fn values(items: &[Item]) -> Result<BTreeMap<Ident, Vec<Value>>> {
    let mut found: BTreeMap<Ident, Vec<Value>> = BTreeMap::new();
    for item in items {
        let Item::Impl(block) = item else { continue };
        if block.trait_.is_some() {
            continue;
        }
        let values = found.entry(implementing_type(block)?).or_default();
        for item in &block.items {
            match item {
                ImplItem::Const(constant) => values.push(Value {
                    name: constant.ident.clone(),
                    expression: argument(&constant.expr)?,
                }),
                item => bail!("not a value: {}", item.to_token_stream()),
            }
        }
    }
    Ok(found)
}

/// `7` of `SomeEnum(7)`.
fn argument(expression: &Expr) -> Result<Expr> {
    match expression {
        Expr::Call(call) if call.args.len() == 1 => Ok(call.args[0].clone()),
        other => bail!("not a value of an enumeration: {}", other.to_token_stream()),
    }
}

fn enumeration(name: &Ident, values: &[Value]) -> TokenStream {
    let names = values.iter().map(|value| &value.name);
    let expressions = values.iter().map(|value| &value.expression);
    quote! {
        impl #name {
            #(pub const #names: Self = Self(#expressions);)*
        }
    }
}

/// A function from error codes to names. Of two names for the same code the first one counts.
fn names_of_results(results: &Ident, values: &[Value]) -> TokenStream {
    let mut known: Vec<String> = Vec::new();
    let firsts = values.iter().filter(|value| {
        let number = value.expression.to_token_stream().to_string();
        let is_new = !known.contains(&number);
        known.push(number);
        is_new
    });
    let names: Vec<&Ident> = firsts.map(|value| &value.name).collect();
    let texts = names.iter().map(ToString::to_string);
    quote! {
        impl #results {
            /// The header's name of this code; `None` for a code that the header does not have.
            pub const fn name(self) -> Option<&'static str> {
                Some(match self {
                    #(Self::#names => #texts,)*
                    _ => return None,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(source: &str) -> Vec<Item> {
        syn::parse_file(source).expect("Rust source").items
    }

    #[test]
    fn values_of_an_enumeration_come_together() {
        let items = items(
            "pub struct Code(pub u32);
             impl Code { pub const GOOD: Code = Code(0); }
             impl Code { pub const BAD: Code = Code(7); }
             impl Code { pub const WRONG: Code = Code(7); }",
        );
        let values = values(&items).expect("an enumeration");
        let (name, values) = values.first_key_value().expect("one");
        let expected = quote! {
            impl Code {
                pub const GOOD: Self = Self(0);
                pub const BAD: Self = Self(7);
                pub const WRONG: Self = Self(7);
            }
        };
        assert_eq!(enumeration(name, values).to_string(), expected.to_string());
        let names = names_of_results(name, values).to_string();
        assert!(names.contains("BAD") && !names.contains("WRONG"), "{names}");
    }

    #[test]
    fn only_a_structure_without_fields_of_its_own_is_opaque() {
        let opaque: Vec<bool> = items(
            "struct Declared { _unused: [u8; 0] } struct Whole { size: u32 } struct Value(u32);",
        )
        .iter()
        .map(is_opaque)
        .collect();
        assert_eq!(opaque, [true, false, false]);
    }

    #[test]
    fn what_is_no_type_is_refused() {
        let item = &items("fn surprise() {}")[0];
        assert!(name(item).is_err());
    }
}
