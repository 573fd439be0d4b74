//! Generic kernels: which instantiations exist, how their entries are called, and the launcher's generics.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, ItemFn};

use super::attributes::Attributes;

/// One PTX entry.
pub struct Instance {
    /// The entry's name.
    pub name: String,
    /// `type T = f32; const N: usize = 4;`: the generic parameters' values, for types written in terms of them.
    pub aliases: TokenStream,
    /// The turbofish for the body: `::<f32, 4>`, or nothing.
    pub arguments: TokenStream,
    /// The arguments for the launcher type: `<f32, 4>`, or nothing.
    pub type_arguments: TokenStream,
}

pub fn resolve(function: &ItemFn, attributes: &Attributes) -> syn::Result<Vec<Instance>> {
    let base = attributes
        .name
        .as_ref()
        .map_or_else(|| function.sig.ident.to_string(), |n| n.value());
    let base = base.trim_start_matches("r#").to_string();
    let parameters: Vec<&GenericParam> = function
        .sig
        .generics
        .params
        .iter()
        .filter(|p| !matches!(p, GenericParam::Lifetime(_)))
        .collect();
    match (&attributes.instances, parameters.is_empty()) {
        (None, true) => Ok(vec![Instance {
            name: base,
            aliases: TokenStream::new(),
            arguments: TokenStream::new(),
            type_arguments: TokenStream::new(),
        }]),
        (Some((span, _)), true) => Err(syn::Error::new(
            *span,
            "this kernel is not generic: there is nothing to instantiate",
        )),
        (None, false) => Err(syn::Error::new_spanned(
            &function.sig.generics,
            "a generic kernel needs its list of instantiations, for example `#[kernel(instantiate(f32, f64))]`, or with \
             several parameters `#[kernel(instantiate((f32, 128), (f64, 64)))]`: the device code is compiled before the \
             host's, so it cannot know which are used",
        )),
        (Some((span, lists)), false) => {
            if lists.is_empty() {
                return Err(syn::Error::new(
                    *span,
                    "the list of instantiations is empty",
                ));
            }
            let instances = lists
                .iter()
                .map(|list| instance(&base, &parameters, list, *span))
                .collect::<syn::Result<Vec<_>>>()?;
            for (i, instance) in instances.iter().enumerate() {
                if instances[..i]
                    .iter()
                    .any(|other| other.name == instance.name)
                {
                    let message = format!("two instantiations are called `{}`", instance.name);
                    return Err(syn::Error::new(*span, message));
                }
            }
            Ok(instances)
        }
    }
}

fn instance(
    base: &str,
    parameters: &[&GenericParam],
    list: &[TokenStream],
    span: proc_macro2::Span,
) -> syn::Result<Instance> {
    if parameters.len() != list.len() {
        let message = format!(
            "an instantiation names {} generic argument(s), but the kernel has {}: write `instantiate((A, B), (C, D))` \
             where there are several",
            list.len(),
            parameters.len()
        );
        return Err(syn::Error::new(span, message));
    }
    let aliases = parameters.iter().zip(list).map(|(parameter, argument)| match parameter {
        GenericParam::Type(parameter) => {
            let ident = &parameter.ident;
            quote! { #[allow(dead_code, non_camel_case_types)] type #ident = #argument; }
        }
        GenericParam::Const(parameter) => {
            let (ident, ty) = (&parameter.ident, &parameter.ty);
            quote! { #[allow(dead_code, non_upper_case_globals)] const #ident: #ty = #argument; }
        }
        GenericParam::Lifetime(_) => TokenStream::new(),
    });
    let suffix: Vec<String> = list.iter().map(readable).collect();
    Ok(Instance {
        name: format!("{base}__{}", suffix.join("_")),
        aliases: quote! { #(#aliases)* },
        arguments: quote! { ::<#(#list),*> },
        type_arguments: quote! { <#(#list),*> },
    })
}

/// A generic argument as part of an identifier: `half::f16` is `f16`, `[u32; 4]` is `u32_4`, `-1` is `m1`.
fn readable(argument: &TokenStream) -> String {
    let text = argument.to_token_stream().to_string().replace(' ', "");
    let text = match text.rfind("::") {
        Some(at) if !text.contains('<') && !text.contains('[') => text[at + 2..].to_string(),
        _ => text.replace("::", "_"),
    };
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '-' => out.push('m'),
            c if c.is_ascii_alphanumeric() || c == '_' => out.push(c),
            _ if !out.ends_with('_') => out.push('_'),
            _ => {}
        }
    }
    out.trim_matches('_').to_string()
}

/// The launcher type's generics: the kernel's, without lifetimes, bounds and defaults, in angle brackets if any.
pub struct LauncherGenerics {
    pub declared: TokenStream,
    pub used: TokenStream,
    pub phantom: TokenStream,
}

pub fn launcher_generics(function: &ItemFn) -> LauncherGenerics {
    let mut declared = Vec::new();
    let mut used = Vec::new();
    let mut types = Vec::new();
    for parameter in &function.sig.generics.params {
        match parameter {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(parameter) => {
                let ident = &parameter.ident;
                declared.push(quote! { #ident });
                used.push(quote! { #ident });
                types.push(quote! { #ident });
            }
            GenericParam::Const(parameter) => {
                let (ident, ty) = (&parameter.ident, &parameter.ty);
                declared.push(quote! { const #ident: #ty });
                used.push(quote! { #ident });
            }
        }
    }
    let in_brackets = |list: &[TokenStream]| match list {
        [] => TokenStream::new(),
        list => quote! { <#(#list),*> },
    };
    LauncherGenerics {
        declared: in_brackets(&declared),
        used: in_brackets(&used),
        phantom: quote! { ::core::marker::PhantomData<fn() -> (#(#types,)*)> },
    }
}
