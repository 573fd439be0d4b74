//! A kernel's parameters: how each Rust type is passed (flat), rebuilt inside, described to the linker, and launched.
//!
//! A macro sees only syntax, so a parameter's kind is decided by the last segment of its type's path; that the name
//! really means the library's type is then checked by the compiler, because the rebuilt value must have exactly the
//! declared type.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, Safety, Type};

/// How a parameter is passed.
enum Form {
    /// By value, in a register.
    Scalar,
    /// `half::f16`, `half::bf16`: as a `u16`.
    Half,
    /// By value, in the parameter space, reached through a pointer.
    Struct,
    /// `&[T]`
    Slice(Type),
    /// `&T`
    Reference(Type),
    /// A view with a pointer and a length that the kernel writes through.
    Output {
        element: TokenStream,
        dimensions: u32,
    },
    /// `Matrix<T>`
    Matrix(Type),
    /// `MatrixOut<T>`
    MatrixOut { element: Type, dimensions: u32 },
    /// `*const T`, `*mut T`
    Raw { element: Type },
}

pub struct Parameter {
    /// The first flat parameter's name.
    ident: Ident,
    ty: Type,
    form: Form,
}

const SCALARS: &[&str] = &[
    "f32", "f64", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize",
];

pub fn parse(function: &ItemFn) -> syn::Result<Vec<Parameter>> {
    let is_unsafe = matches!(function.sig.safety, Safety::Unsafe(_));
    let mut parameters = Vec::new();
    let mut errors: Option<syn::Error> = None;
    for (index, input) in function.sig.inputs.iter().enumerate() {
        let FnArg::Typed(input) = input else { continue };
        let form = pattern(&input.pat).and_then(|()| form(&input.ty, is_unsafe));
        match form {
            Ok(form) => {
                let span = input.pat.span();
                let ident = match &*input.pat {
                    Pat::Ident(pattern) => {
                        format_ident!("__p{}_{}", index, pattern.ident, span = span)
                    }
                    _ => format_ident!("__p{}", index, span = span),
                };
                parameters.push(Parameter {
                    ident,
                    ty: (*input.ty).clone(),
                    form,
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

fn form(ty: &Type, is_unsafe: bool) -> syn::Result<Form> {
    match ty {
        Type::Paren(inner) => form(&inner.elem, is_unsafe),
        Type::Group(inner) => form(&inner.elem, is_unsafe),
        Type::Reference(reference) if reference.mutability.is_some() => {
            Err(syn::Error::new_spanned(
                ty,
                "a kernel cannot take `&mut`: every thread of the grid would hold the same exclusive reference. Take an output \
             view instead: `PerThread<[T]>` (each thread its own element), `PerBlock<[T]>`, `MatrixOut<T>`, \
             `AtomicSlice<T>`, or `*mut T` in an `unsafe fn`",
            ))
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(slice) => Ok(Form::Slice((*slice.elem).clone())),
            Type::TraitObject(_) => Err(syn::Error::new_spanned(
                ty,
                "a kernel cannot take a `dyn` reference: a vtable of the host means nothing on the device. Make the \
                 kernel generic and list its instantiations",
            )),
            Type::Path(path) if path.path.is_ident("str") => Err(syn::Error::new_spanned(
                ty,
                "a kernel cannot take `&str`: take `&[u8]`",
            )),
            element => Ok(Form::Reference(element.clone())),
        },
        Type::Ptr(pointer) if is_unsafe => Ok(Form::Raw {
            element: (*pointer.elem).clone(),
        }),
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
        Type::Path(path) => path_form(ty, path),
        _ => Ok(Form::Struct),
    }
}

fn path_form(ty: &Type, path: &syn::TypePath) -> syn::Result<Form> {
    let Some(last) = path.path.segments.last() else {
        return Ok(Form::Struct);
    };
    if path.qself.is_some() {
        return Ok(Form::Struct);
    }
    let name = last.ident.to_string();
    let types: Vec<&Type> = match &last.arguments {
        PathArguments::AngleBracketed(list) => list
            .args
            .iter()
            .filter_map(|a| match a {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let plain = matches!(last.arguments, PathArguments::None);
    if plain && SCALARS.contains(&name.as_str()) {
        return Ok(Form::Scalar);
    }
    if plain && (name == "f16" || name == "bf16") {
        return Ok(Form::Half);
    }
    if plain && (name == "bool" || name == "char") {
        return Err(syn::Error::new_spanned(
            ty,
            format!(
                "`{name}` has invalid bit patterns, so a kernel does not take it: pass a `u32` and compare inside"
            ),
        ));
    }
    let element = || -> syn::Result<Type> {
        match types.first() {
            Some(Type::Slice(slice)) => Ok((*slice.elem).clone()),
            Some(other) => Ok((*other).clone()),
            None => Err(syn::Error::new_spanned(
                ty,
                format!("`{name}` needs its element type: `{name}<[f32]>` or the like"),
            )),
        }
    };
    let slice_element = || -> syn::Result<Type> {
        match types.first() {
            Some(Type::Slice(slice)) => Ok((*slice.elem).clone()),
            _ => Err(syn::Error::new_spanned(
                ty,
                format!("`{name}` views a slice: write `{name}<[T]>`"),
            )),
        }
    };
    let output = |element: Type, dimensions: u32| Form::Output {
        element: quote! { #element },
        dimensions,
    };
    match name.as_str() {
        // The launch may have so many dimensions that the view's elements still belong to one thread each.
        "PerThread" | "PerThreadVectors" => Ok(output(slice_element()?, 1)),
        "PerThread3d" => Ok(output(slice_element()?, 3)),
        "PerBlock" => Ok(output(slice_element()?, 3)),
        "AtomicSlice" => Ok(output(element()?, 3)),
        "Matrix" => Ok(Form::Matrix(element()?)),
        "MatrixOut" => Ok(Form::MatrixOut {
            element: element()?,
            dimensions: 2,
        }),
        _ => Ok(Form::Struct),
    }
}

/// Kinds of flat parameters, as in the kernel record.
const SCALAR: u32 = 0;
const READ_ONLY: u32 = 1;
const WRITTEN: u32 = 2;
const RAW: u32 = 3;
const BY_VALUE: u32 = 4;

impl Parameter {
    fn part(&self, suffix: &str) -> Ident {
        format_ident!("{}_{}", self.ident, suffix, span = self.ident.span())
    }

    /// The entry's parameters.
    pub fn flat(&self) -> Vec<TokenStream> {
        let (ident, ty) = (&self.ident, &self.ty);
        let length = self.part("length");
        match &self.form {
            Form::Scalar => vec![quote! { #ident: #ty }],
            Form::Half => vec![quote! { #ident: u16 }],
            Form::Struct => vec![quote! { #ident: *const #ty }],
            Form::Slice(element) => vec![
                quote! { #ident: *const #element },
                quote! { #length: usize },
            ],
            Form::Reference(element) => vec![quote! { #ident: *const #element }],
            Form::Output { element, .. } => {
                vec![quote! { #ident: *mut #element }, quote! { #length: usize }]
            }
            Form::Matrix(element) => self.matrix(quote! { *const #element }),
            Form::MatrixOut { element, .. } => self.matrix(quote! { *mut #element }),
            Form::Raw { .. } => vec![quote! { #ident: #ty }],
        }
    }

    fn matrix(&self, pointer: TokenStream) -> Vec<TokenStream> {
        let ident = &self.ident;
        let (rows, columns, stride) =
            (self.part("rows"), self.part("columns"), self.part("stride"));
        vec![
            quote! { #ident: #pointer },
            quote! { #rows: u32 },
            quote! { #columns: u32 },
            quote! { #stride: u32 },
        ]
    }

    /// The expression that makes the Rust argument out of the flat ones (inside `unsafe`).
    pub fn rebuild(&self) -> TokenStream {
        let ident = &self.ident;
        let length = self.part("length");
        let (rows, columns, stride) =
            (self.part("rows"), self.part("columns"), self.part("stride"));
        match &self.form {
            Form::Scalar | Form::Raw { .. } => quote! { #ident },
            Form::Half => quote! { ::warpsmith_device::__private::bytemuck::cast(#ident) },
            Form::Struct => quote! { ::core::ptr::read(#ident) },
            Form::Slice(_) => quote! { ::warpsmith_device::__private::slice(#ident, #length) },
            Form::Reference(_) => quote! { &*#ident },
            Form::Output { .. } => {
                quote! { ::warpsmith_device::__private::OutputView::from_raw(#ident, #length) }
            }
            Form::Matrix(_) => {
                quote! { ::warpsmith_device::__private::MatrixView::from_raw(#ident.cast_mut(), #rows, #columns, #stride) }
            }
            Form::MatrixOut { .. } => {
                quote! { ::warpsmith_device::__private::MatrixView::from_raw(#ident, #rows, #columns, #stride) }
            }
        }
    }

    /// One row of the kernel record for each flat parameter. The last word tells forms apart whose flat parameters are alike.
    pub fn record(&self) -> Vec<TokenStream> {
        let ty = &self.ty;
        let form: u32 = match &self.form {
            Form::Scalar => 1,
            Form::Half => 2,
            Form::Struct => 3,
            Form::Slice(_) => 4,
            Form::Reference(_) => 5,
            Form::Output { .. } => 6,
            Form::Matrix(_) => 7,
            Form::MatrixOut { .. } => 8,
            Form::Raw { .. } => 9,
        };
        let row = |kind: u32, ty: TokenStream| {
            quote! { [#kind, ::core::mem::size_of::<#ty>() as u32, ::core::mem::align_of::<#ty>() as u32, #form] }
        };
        let word = || row(SCALAR, quote! { usize });
        let half_word = || row(SCALAR, quote! { u32 });
        match &self.form {
            Form::Scalar => vec![row(SCALAR, quote! { #ty })],
            Form::Half => vec![row(SCALAR, quote! { u16 })],
            Form::Struct => vec![row(BY_VALUE, quote! { #ty })],
            Form::Slice(element) => vec![row(READ_ONLY, quote! { #element }), word()],
            Form::Reference(element) => vec![row(READ_ONLY, quote! { #element })],
            Form::Output { element, .. } => vec![row(WRITTEN, quote! { #element }), word()],
            Form::Matrix(element) => vec![
                row(READ_ONLY, quote! { #element }),
                half_word(),
                half_word(),
                half_word(),
            ],
            Form::MatrixOut { element, .. } => {
                vec![
                    row(WRITTEN, quote! { #element }),
                    half_word(),
                    half_word(),
                    half_word(),
                ]
            }
            Form::Raw { element } => vec![row(RAW, quote! { #element })],
        }
    }

    /// The launcher's marker type.
    pub fn marker(&self) -> TokenStream {
        let ty = &self.ty;
        match &self.form {
            Form::Scalar | Form::Half | Form::Struct => {
                quote! { ::warpsmith_device::launch::Value<#ty> }
            }
            Form::Slice(element) => quote! { ::warpsmith_device::launch::In<#element> },
            Form::Reference(element) => quote! { ::warpsmith_device::launch::InRef<#element> },
            Form::Output { element, .. } => quote! { ::warpsmith_device::launch::Out<#element> },
            Form::Matrix(element) => quote! { ::warpsmith_device::launch::InMatrix<#element> },
            Form::MatrixOut { element, .. } => {
                quote! { ::warpsmith_device::launch::OutMatrix<#element> }
            }
            Form::Raw { element } => quote! { ::warpsmith_device::launch::RawPtr<#element> },
        }
    }

    /// A compile-time check that the bytes may cross between host and device.
    pub fn assertion(&self) -> TokenStream {
        let check = |ty: &TokenStream, span| {
            quote_spanned! { span=> const _: () = ::warpsmith_device::__private::assert_passable::<#ty>(); }
        };
        let span = self.ty.span();
        match &self.form {
            Form::Scalar | Form::Half | Form::Raw { .. } => TokenStream::new(),
            Form::Struct => {
                let ty = &self.ty;
                check(&quote! { #ty }, span)
            }
            Form::Slice(ty)
            | Form::Reference(ty)
            | Form::Matrix(ty)
            | Form::MatrixOut { element: ty, .. } => check(&quote! { #ty }, span),
            Form::Output { element, .. } => check(element, span),
        }
    }

    /// In how many dimensions the grid and its blocks may extend, so that this parameter stays free of races.
    pub fn launch_dimensions(&self) -> u32 {
        match &self.form {
            Form::Output { dimensions, .. } | Form::MatrixOut { dimensions, .. } => *dimensions,
            _ => 3,
        }
    }
}
