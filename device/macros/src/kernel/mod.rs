//! `#[kernel]`: from a Rust function to a PTX entry (on the device) and a typed launcher (on the host).
//!
//! On the device the function becomes an inlined body plus, for each instantiation, an exported entry with a flat
//! signature (pointers and lengths are scalars of their own) and a *kernel record*: an exported array of words that
//! tells the PTX linker about parameters, launch bounds and floating-point switches. On the host it becomes a unit
//! struct of the kernel's name that implements `warpsmith_device::launch::Kernel`, and the body is only type-checked.

mod attributes;
mod checks;
mod instances;
mod parameters;
mod shared;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, ItemFn, Safety, parse_quote};

use attributes::Attributes;
use instances::Instance;
use parameters::Parameter;

/// Entry point: everything that is wrong with the kernel is reported in one go.
pub fn expand(attributes: TokenStream, item: TokenStream) -> TokenStream {
    match try_expand(attributes, item) {
        Ok(tokens) => tokens,
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

    let device = device_side(&function, &attributes, &parameters, &instances);
    let host = host_side(&function, &attributes, &parameters, &instances);
    Ok(quote! { #device #host })
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

fn device_side(
    function: &ItemFn,
    attributes: &Attributes,
    parameters: &[Parameter],
    instances: &[Instance],
) -> TokenStream {
    let body = body(function);
    let entries = instances.iter().map(|instance| {
        let name = &instance.name;
        let record_name = format!("__warpsmith_kernel.{name}");
        let aliases = &instance.aliases;
        let arguments = &instance.arguments;
        let flat = parameters.iter().flat_map(Parameter::flat);
        let rebuilt = parameters.iter().map(Parameter::rebuild);
        let record = record(attributes, parameters, !is_unsafe(function));
        // The checks that only need the types are made here too, so that a device build alone reports them.
        let assertions = parameters.iter().map(Parameter::assertion);
        quote! {
            const _: () = {
                #aliases
                #(#assertions)*
                // SAFETY (of the attribute): the linker refuses a second kernel of the same name.
                #[unsafe(export_name = #name)]
                #[allow(clippy::too_many_arguments, improper_ctypes_definitions)]
                pub unsafe extern "ptx-kernel" fn __kernel_entry(#(#flat),*) {
                    // SAFETY: the launcher passes what the record below describes: pointers that are valid for
                    // their lengths, aligned, initialised, and unaliased where a view promises it.
                    unsafe { __kernel_body #arguments (#(#rebuilt),*) }
                }
                #record
                #[used]
                #[unsafe(export_name = #record_name)]
                static __KERNEL_RECORD: [u32; __WORDS.len()] = __WORDS;
            };
        }
    });
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #[allow(unused_unsafe, non_snake_case)]
        const _: () = {
            #body
            #(#entries)*
        };
    }
}

/// The words of the kernel record; the layout is documented in `warpsmith_device::launch`.
fn record(attributes: &Attributes, parameters: &[Parameter], safe: bool) -> TokenStream {
    let rows: Vec<TokenStream> = parameters.iter().flat_map(Parameter::record).collect();
    let count = rows.len() as u32;
    let [x, y, z] = attributes.max_threads.unwrap_or([0; 3]);
    let exact = u32::from(attributes.exact);
    let min_blocks = attributes.min_blocks.unwrap_or(0);
    let max_registers = attributes.max_registers.unwrap_or(0);
    let [cx, cy, cz] = attributes.cluster.unwrap_or([0; 3]);
    let float = attributes.float_flags();
    let max_cluster = attributes.max_cluster.unwrap_or(0);
    let dimensions = launch_dimensions(parameters);
    let safe = u32::from(safe);
    quote! {
        const __WORDS: [u32; 16 + 4 * #count as usize] =
            ::warpsmith_device::__private::record::<{ 16 + 4 * #count as usize }>(
                [
                    0x314B_5357, 2, #count, #x, #y, #z, #exact, #min_blocks, #max_registers, #cx, #cy, #cz, #float,
                    #max_cluster, #dimensions, #safe,
                ],
                &[#(#rows),*],
            );
    }
}

/// In how many dimensions a launch may extend.
fn launch_dimensions(parameters: &[Parameter]) -> u32 {
    let each = parameters.iter().map(Parameter::launch_dimensions);
    each.min().unwrap_or(3)
}

fn host_side(
    function: &ItemFn,
    attributes: &Attributes,
    parameters: &[Parameter],
    instances: &[Instance],
) -> TokenStream {
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
    let body = body(function);
    let generics = instances::launcher_generics(function);

    // The value of the kernel's name is a function, not a unit struct: a unit struct would turn every `let NAME = ...`
    // of the module into a pattern. The device has both names, too, so that `pub use` of a kernel means something there.
    let (declared, used, phantom) = (&generics.declared, &generics.used, &generics.phantom);
    let launcher = quote! {
        #(#documentation)*
        #[allow(non_camel_case_types, dead_code)]
        #visibility struct #name #declared { _types: #phantom }
        #(#documentation)*
        #[allow(non_snake_case, dead_code)]
        #[inline(always)]
        #visibility const fn #name #declared () -> #name #used {
            #name { _types: ::core::marker::PhantomData }
        }
    };

    let max_threads = option_array(attributes.max_threads);
    let cluster = option_array(attributes.cluster);
    let min_blocks = option(attributes.min_blocks);
    let max_registers = option(attributes.max_registers);
    let max_cluster = option(attributes.max_cluster);
    let exact = attributes.exact;
    let dimensions = launch_dimensions(parameters);
    let safe = !is_unsafe(function);
    let record = record(attributes, parameters, safe);

    let implementations = instances.iter().map(|instance| {
        let aliases = &instance.aliases;
        let entry = &instance.name;
        let arguments = &instance.type_arguments;
        let markers = parameters.iter().map(Parameter::marker);
        let assertions = parameters.iter().map(Parameter::assertion);
        let safe_kernel = safe.then(|| {
            quote! {
                // SAFETY: the function is not `unsafe`.
                unsafe impl ::warpsmith_device::launch::SafeKernel for #name #arguments {}
            }
        });
        quote! {
            const _: () = {
                #aliases
                #(#assertions)*
                #record
                // SAFETY: all of it is made of the function by `#[kernel]`, as the entry is.
                unsafe impl ::warpsmith_device::launch::Kernel for #name #arguments {
                    type Parameters = (#(#markers,)*);
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
                            launch_dimensions: #dimensions,
                        };
                    const SAFE: bool = #safe;
                }
                #safe_kernel
                impl ::warpsmith_device::launch::KernelItem for #name #arguments {
                    type Kernel = Self;
                }
            };
        }
    });

    quote! {
        #launcher
        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            #body
            impl #declared ::core::clone::Clone for #name #used {
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl #declared ::core::marker::Copy for #name #used {}
            #(#implementations)*
        };
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
