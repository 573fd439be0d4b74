//! `#[kernel]`: from a Rust function to a PTX entry (on the device) and a typed launcher (on the host).
//!
//! On the device the function becomes an inlined body plus, for each instantiation, an exported entry with a flat
//! signature (pointers and lengths are scalars of their own) and a *kernel record*: an exported array of words that
//! tells the PTX linker about parameters, launch bounds and floating-point switches. On the host it becomes a unit
//! struct of the kernel's name that implements `warpsmith_device::launch::Kernel`, and the body is only type-checked.

mod attributes;
mod checks;
mod device_errors;
mod documentation;
mod instances;
mod parameters;
mod shared;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, ItemFn, Safety, parse_quote};

use attributes::Attributes;
use instances::{Instance, LauncherGenerics};
use parameters::Parameter;

/// Entry point: everything that is wrong with the kernel is reported in one go.
pub fn expand(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let reported = device_errors::report(&item);
    match try_expand(attributes, item) {
        Ok(tokens) => quote! { #tokens #reported },
        Err(error) => error.into_compile_error(),
    }
}

fn try_expand(attributes: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut function: ItemFn = syn::parse2(item).map_err(|error| {
        syn::Error::new(
            error.span(),
            format!("`#[kernel]` goes on a function: {error}"),
        )
    })?;
    let attributes = attributes::parse(attributes)?;
    checks::signature(&function)?;
    let parameters = parameters::parse(&function)?;
    let instances = instances::resolve(&function, &attributes)?;
    shared::replace(&mut function)?;

    let launcher = launcher(&function);
    let items = items(&function, &attributes, &parameters, &instances);
    Ok(quote! { #launcher #items })
}

fn is_unsafe(function: &ItemFn) -> bool {
    matches!(function.sig.safety, Safety::Unsafe(_))
}

/// The kernel's own code, under a hidden name: a kernel cannot be called as a function.
fn body(function: &ItemFn) -> TokenStream {
    let mut body = function.clone();
    body.vis = syn::Visibility::Inherited;
    let name = Ident::new(
        "__kernel_body",
        Span::call_site().located_at(function.sig.ident.span()),
    );
    // Nor can it call itself, which would make a second handle to its shared memory: in its own block the name means a
    // constant.
    body.block.stmts.insert(
        0,
        parse_quote! {
            #[allow(dead_code, non_upper_case_globals)]
            const #name: ::warpsmith_device::__private::NotAFunction = ::warpsmith_device::__private::NotAFunction;
        },
    );
    body.sig.ident = name;
    quote! {
        #[inline(always)]
        #[allow(dead_code, clippy::too_many_arguments, clippy::needless_pass_by_value)]
        #body
    }
}

/// What host and device have in common, one block for the kernel and one in it for each instance: the body, the entry
/// (which on the host is only type-checked), and the record.
fn items(
    function: &ItemFn,
    attributes: &Attributes,
    parameters: &[Parameter],
    instances: &[Instance],
) -> TokenStream {
    let body = body(function);
    let on_host = on_host(function);
    let record = record(attributes, parameters, !is_unsafe(function));
    let instances = instances.iter().map(|instance| {
        let aliases = &instance.aliases;
        let declarations = parameters.iter().map(Parameter::declaration);
        let entry = entry(instance, parameters);
        let record_name = format!("__warpsmith_kernel.{}", instance.name);
        let implementations = implementations(function, attributes, parameters, instance);
        quote! {
            const _: () = {
                #aliases
                #(#declarations)*
                #entry
                #record
                #[cfg(target_arch = "nvptx64")]
                #[used]
                #[unsafe(export_name = #record_name)]
                static __KERNEL_RECORD: [u32; __WORDS.len()] = __WORDS;
                #implementations
            };
        }
    });
    quote! {
        #[allow(unused_unsafe, non_snake_case)]
        const _: () = {
            #body
            #on_host
            #(#instances)*
        };
    }
}

/// The PTX entry: makes the arguments out of the flat parameters, and calls the body with them.
fn entry(instance: &Instance, parameters: &[Parameter]) -> TokenStream {
    let name = &instance.name;
    let arguments = &instance.arguments;
    let launch = Ident::new("__launch", Span::mixed_site());
    let flat = parameters.iter().map(Parameter::flat);
    let rebuilt = parameters
        .iter()
        .map(|parameter| parameter.rebuild(&launch));
    let signature_and_body = quote! {
        fn __kernel_entry(#(#flat),*) {
            let #launch = ::warpsmith_device::parameter::Launch;
            // SAFETY: the launcher passes what the record describes: pointers that are valid for their lengths, aligned,
            // initialised, and unaliased where a view promises it.
            unsafe { __kernel_body #arguments (#(#rebuilt),*) }
        }
    };
    quote! {
        // SAFETY (of the attribute): the linker refuses a second kernel of the same name.
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(export_name = #name)]
        #[allow(clippy::too_many_arguments, improper_ctypes_definitions)]
        pub unsafe extern "ptx-kernel" #signature_and_body

        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(dead_code, clippy::too_many_arguments)]
        unsafe #signature_and_body
    }
}

/// The words of the kernel record; the layout is documented in `warpsmith_device::launch`.
fn record(attributes: &Attributes, parameters: &[Parameter], safe: bool) -> TokenStream {
    let rows = parameters.iter().map(Parameter::rows);
    let counts = parameters.iter().map(Parameter::count);
    let dimensions = parameters.iter().map(Parameter::dimensions);
    let [x, y, z] = attributes.max_threads.unwrap_or([0; 3]);
    let exact = u32::from(attributes.exact);
    let min_blocks = attributes.min_blocks.unwrap_or(0);
    let max_registers = attributes.max_registers.unwrap_or(0);
    let [cx, cy, cz] = attributes.cluster.unwrap_or([0; 3]);
    let float = attributes.float_flags();
    let max_cluster = attributes.max_cluster.unwrap_or(0);
    let safe = u32::from(safe);
    quote! {
        const __DIMENSIONS: u32 = ::warpsmith_device::parameter::launch_dimensions(&[#(#dimensions),*]);
        const __FLAT: usize = 0 #(+ #counts)*;
        const __WORDS: [u32; 16 + 4 * __FLAT] = ::warpsmith_device::__private::record(
            [
                0x314B_5357, 3, __FLAT as u32, #x, #y, #z, #exact, #min_blocks, #max_registers, #cx, #cy, #cz, #float,
                #max_cluster, __DIMENSIONS, #safe,
            ],
            &[#(#rows),*],
        );
    }
}

/// The type and the function of the kernel's name.
///
/// The value of the name is a function, not a unit struct: a unit struct would turn every `let NAME = ...` of the module
/// into a pattern. The device has both, too, so that `pub use` of a kernel means something there.
fn launcher(function: &ItemFn) -> TokenStream {
    let visibility = &function.vis;
    let name = &function.sig.ident;
    let documentation: Vec<_> = function
        .attrs
        .iter()
        .filter(|a| {
            ["doc", "deprecated", "allow", "expect", "must_use"]
                .iter()
                .any(|n| a.path().is_ident(n))
        })
        .collect();
    let LauncherGenerics {
        declared,
        used,
        phantom,
    } = instances::launcher_generics(function);
    let signature = documentation::of_launcher(function);
    quote! {
        #(#documentation)*
        #[doc = #signature]
        #[allow(non_camel_case_types, dead_code)]
        #visibility struct #name #declared { _types: #phantom }
        #(#documentation)*
        #[doc = #signature]
        #[allow(non_snake_case, dead_code)]
        #[inline(always)]
        #visibility const fn #name #declared () -> #name #used {
            #name { _types: ::core::marker::PhantomData }
        }
    }
}

/// What the launcher can do on the host for all types.
fn on_host(function: &ItemFn) -> TokenStream {
    let name = &function.sig.ident;
    let LauncherGenerics { declared, used, .. } = instances::launcher_generics(function);
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        impl #declared ::core::clone::Clone for #name #used {
            fn clone(&self) -> Self {
                *self
            }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        impl #declared ::core::marker::Copy for #name #used {}
    }
}

/// What the launcher of one instance is on the host.
fn implementations(
    function: &ItemFn,
    attributes: &Attributes,
    parameters: &[Parameter],
    instance: &Instance,
) -> TokenStream {
    let name = &function.sig.ident;
    let (entry, arguments) = (&instance.name, &instance.type_arguments);
    let markers = parameters.iter().map(Parameter::marker);
    let span = parameters
        .first()
        .map_or_else(Span::call_site, Parameter::span);
    let markers = quote_spanned! { span=> (#(#markers,)*) };
    let max_threads = option_array(attributes.max_threads);
    let cluster = option_array(attributes.cluster);
    let min_blocks = option(attributes.min_blocks);
    let max_registers = option(attributes.max_registers);
    let max_cluster = option(attributes.max_cluster);
    let exact = attributes.exact;
    let safe = !is_unsafe(function);
    let safe_kernel = safe.then(|| {
        quote! {
            // SAFETY: the function is not `unsafe`.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl ::warpsmith_device::launch::SafeKernel for #name #arguments {}
        }
    });
    quote! {
        // SAFETY: all of it is made of the function by `#[kernel]`, as the entry is.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl ::warpsmith_device::launch::Kernel for #name #arguments {
            type Parameters = #markers;
            const NAME: &'static str = #entry;
            const RECORD: &'static [u32] = &__WORDS;
            const ATTRIBUTES: ::warpsmith_device::launch::KernelAttributes =
                ::warpsmith_device::launch::KernelAttributes {
                    max_threads: #max_threads,
                    exact: #exact,
                    min_blocks: #min_blocks,
                    max_registers: #max_registers,
                    cluster: #cluster,
                    max_cluster: #max_cluster,
                    launch_dimensions: __DIMENSIONS,
                };
            const SAFE: bool = #safe;
        }
        #safe_kernel
        #[cfg(not(target_arch = "nvptx64"))]
        impl ::warpsmith_device::launch::KernelItem for #name #arguments {
            type Kernel = Self;
        }
    }
}

fn option(value: Option<u32>) -> TokenStream {
    match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    }
}

fn option_array(value: Option<[u32; 3]>) -> TokenStream {
    match value {
        Some([x, y, z]) => quote! { ::core::option::Option::Some([#x, #y, #z]) },
        None => quote! { ::core::option::Option::None },
    }
}
