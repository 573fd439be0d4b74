//! A kernel's parameters: how each is passed (flat), rebuilt inside, described to the linker, and launched.
//!
//! All of that is the compiler's to say, by the parameter's type (`warpsmith_device::parameter`). The macro only tells
//! references, raw pointers and the names of numbers from everything else, and says what to write instead of what it sees
//! to be no parameter.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{FnArg, GenericParam, Ident, ItemFn, Lifetime, Pat, PathArguments, Safety, Type};

pub struct Parameter {
    /// Names the function pointer type that the compiler is asked about.
    alias: Ident,
    /// That type.
    question: TokenStream,
    /// The flat parameters' names.
    flat: [Ident; 4],
}

const SCALARS: &[&str] = &[
    "f32", "f64", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f16",
    "bf16",
];

pub fn parse(function: &ItemFn) -> syn::Result<Vec<Parameter>> {
    let is_unsafe = matches!(function.sig.safety, Safety::Unsafe(_));
    let lifetimes: Vec<&Lifetime> = function
        .sig
        .generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Lifetime(parameter) => Some(&parameter.lifetime),
            _ => None,
        })
        .collect();
    let mut parameters = Vec::new();
    let mut errors: Option<syn::Error> = None;
    for (index, input) in function.sig.inputs.iter().enumerate() {
        let FnArg::Typed(input) = input else { continue };
        let asked = pattern(&input.pat)
            .and_then(|()| no_static(&input.ty))
            .and_then(|()| asked(&input.ty, is_unsafe));
        match asked {
            Ok(asked) => {
                let name = match &*input.pat {
                    Pat::Ident(pattern) => format!("__p{index}_{}", pattern.ident),
                    _ => format!("__p{index}"),
                };
                // Errors about the type are shown at the type.
                let span = Span::call_site().located_at(input.ty.span());
                parameters.push(Parameter {
                    alias: format_ident!("__P{index}", span = span),
                    question: quote! { for<#(#lifetimes),*> fn(#asked) },
                    flat: ["", "_2", "_3", "_4"]
                        .map(|suffix| format_ident!("{name}{suffix}", span = span)),
                });
            }
            Err(error) => match &mut errors {
                Some(all) => all.combine(error),
                None => errors = Some(error),
            },
        }
    }
    match errors {
        None => Ok(parameters),
        Some(error) => Err(error),
    }
}

fn pattern(pattern: &Pat) -> syn::Result<()> {
    match pattern {
        Pat::Wild(_) => Ok(()),
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => Ok(()),
        other => Err(syn::Error::new_spanned(
            other,
            "a kernel's parameter is a plain name (`x: T` or `mut x: T`): take it apart inside the kernel",
        )),
    }
}

/// Refuses `'static` anywhere in a parameter's type.
fn no_static(ty: &Type) -> syn::Result<()> {
    struct Find(Option<Span>);
    impl Visit<'_> for Find {
        fn visit_lifetime(&mut self, lifetime: &Lifetime) {
            if lifetime.ident == "static" {
                self.0 = Some(lifetime.span());
            }
        }
        fn visit_type(&mut self, ty: &Type) {
            visit::visit_type(self, ty);
        }
    }
    let mut find = Find(None);
    find.visit_type(ty);
    match find.0 {
        None => Ok(()),
        Some(span) => Err(syn::Error::new(
            span,
            "a kernel's parameter lives as long as the launch, not for ever: the host may free the memory afterwards. Leave \
             the lifetime out",
        )),
    }
}

/// The type that the compiler is asked about: the parameter's own, or a wrapper around it.
fn asked(ty: &Type, is_unsafe: bool) -> syn::Result<TokenStream> {
    match ty {
        Type::Paren(inner) => asked(&inner.elem, is_unsafe),
        Type::Group(inner) => asked(&inner.elem, is_unsafe),
        Type::Reference(reference) if reference.mutability.is_some() => {
            Err(syn::Error::new_spanned(
                ty,
                "a kernel cannot take `&mut`: every thread of the grid would hold the same exclusive reference. Take an output \
             view instead: `PerThread<[T]>` (each thread its own element), `PerBlock<[T]>`, `MatrixOut<T>`, \
             `AtomicSlice<T>`, or `*mut T` in an `unsafe fn`",
            ))
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::TraitObject(_) => Err(syn::Error::new_spanned(
                ty,
                "a kernel cannot take a `dyn` reference: a vtable of the host means nothing on the device. Make the \
                 kernel generic and list its instantiations",
            )),
            Type::Path(path) if path.path.is_ident("str") => Err(syn::Error::new_spanned(
                ty,
                "a kernel cannot take `&str`: take `&[u8]`",
            )),
            // Of a `'static` one, too, whose lifetime the kernel's body then does not get.
            element => Ok(quote! { ::warpsmith_device::parameter::Reference<#element> }),
        },
        Type::Ptr(_) if is_unsafe => Ok(quote! { ::warpsmith_device::parameter::Raw<#ty> }),
        Type::Ptr(_) => Err(syn::Error::new_spanned(
            ty,
            "a kernel with a raw pointer must be an `unsafe fn`: nothing checks what the pointer means. A safe kernel \
             takes `&[T]` for inputs and views such as `PerThread<[T]>` for outputs",
        )),
        Type::ImplTrait(_) => Err(syn::Error::new_spanned(
            ty,
            "a kernel cannot take `impl Trait`: give it a named generic parameter, and list the types in \
             `#[kernel(instantiate(...))]`",
        )),
        Type::Slice(_) | Type::TraitObject(_) => Err(syn::Error::new_spanned(
            ty,
            "a kernel's parameter has a known size: did you mean `&[T]`?",
        )),
        Type::FnPtr(_) => Err(syn::Error::new_spanned(
            ty,
            "a kernel cannot take a function pointer: the host's functions do not exist on the device. Make the kernel \
             generic over the operation",
        )),
        Type::Tuple(_) => Err(syn::Error::new_spanned(
            ty,
            "a kernel cannot take a tuple: its layout is not fixed. Take the fields separately, or a `#[repr(C)]` struct \
             that derives `bytemuck::Pod`",
        )),
        Type::Never(_) | Type::Infer(_) => Err(syn::Error::new_spanned(
            ty,
            "a kernel's parameter has a written-out type",
        )),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if path.qself.is_none() && matches!(last.arguments, PathArguments::None) => {
                named(ty, &last.ident)
            }
            _ => Ok(quote! { #ty }),
        },
        _ => Ok(quote! { #ty }),
    }
}

/// A type that is only a name.
fn named(ty: &Type, name: &Ident) -> syn::Result<TokenStream> {
    let name = name.to_string();
    if SCALARS.contains(&name.as_str()) {
        return Ok(quote! { ::warpsmith_device::parameter::Scalar<#ty> });
    }
    if name == "bool" || name == "char" {
        return Err(syn::Error::new_spanned(
            ty,
            format!(
                "`{name}` has invalid bit patterns, so a kernel does not take it: pass a `u32` and compare inside"
            ),
        ));
    }
    Ok(quote! { #ty })
}

impl Parameter {
    /// What stands before all else that is said of the parameter.
    pub fn declaration(&self) -> TokenStream {
        let (alias, question, element) = (&self.alias, &self.question, self.answer("Element"));
        quote_spanned! { alias.span()=>
            type #alias = #question;
            const _: () = ::warpsmith_device::parameter::assert_passable::<#element>();
        }
    }

    /// Spanned like the parameter's type, for then the compiler says once what is wrong with it.
    fn answer(&self, item: &str) -> TokenStream {
        let alias = &self.alias;
        let item = Ident::new(item, alias.span());
        quote_spanned! { alias.span()=> <#alias as ::warpsmith_device::parameter::KernelParameter>::#item }
    }

    /// The entry's parameters.
    pub fn flat(&self) -> TokenStream {
        let types = ["First", "Second", "Third", "Fourth"].map(|item| self.answer(item));
        let names = &self.flat;
        quote_spanned! { self.alias.span()=> #(#names: #types),* }
    }

    /// The expression that makes the Rust argument out of the flat ones (inside `unsafe`).
    pub fn rebuild(&self, launch: &Ident) -> TokenStream {
        let (rebuild, names) = (self.answer("rebuild"), &self.flat);
        quote_spanned! { self.alias.span()=> #rebuild(#(#names,)* &#launch) }
    }

    /// What the linker and the launcher are told of it: a constant of `parameter::Form`.
    fn told(&self, item: &str) -> TokenStream {
        let (form, item) = (self.answer("Form"), Ident::new(item, self.alias.span()));
        quote_spanned! { self.alias.span()=> <#form as ::warpsmith_device::parameter::Form>::#item }
    }

    /// The rows of the kernel record.
    pub fn rows(&self) -> TokenStream {
        self.told("ROWS")
    }

    /// How many rows.
    pub fn count(&self) -> TokenStream {
        let rows = self.rows();
        quote_spanned! { self.alias.span()=> #rows.len() }
    }

    /// In how many dimensions the grid and its blocks may extend, so that this parameter stays free of races.
    pub fn dimensions(&self) -> TokenStream {
        self.told("DIMENSIONS")
    }

    /// Where errors about the parameter's type are shown.
    pub fn span(&self) -> Span {
        self.alias.span()
    }

    /// The launcher's marker type.
    pub fn marker(&self) -> TokenStream {
        self.answer("Marker")
    }
}
