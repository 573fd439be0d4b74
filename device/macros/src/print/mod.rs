//! `gpu_print!`, `gpu_println!`, `gpu_assert!`: Rust's format strings on CUDA's printf.
//!
//! The macro splits the format string and pairs each placeholder with its argument; which conversion (`%d`, `%llu`,
//! `%g`, ...) an argument becomes depends on its type, which a macro cannot see. So it emits the pieces as a constant and
//! the arguments as typed values, and `warpsmith_device::print` puts the final format string together in a constant.

mod assertion;
mod format;

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, Ident, LitStr, Token};

pub use assertion::assert;
use format::{Argument, Piece, Width};

/// The most arguments that CUDA's printf looks at.
const MAX_ARGUMENTS: usize = 32;

struct Call {
    format: LitStr,
    positional: Vec<Expr>,
    named: Vec<(Ident, Expr)>,
}

impl Parse for Call {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let format: LitStr = if input.is_empty() {
            LitStr::new("", Span::call_site())
        } else {
            input.parse().map_err(|e| {
                syn::Error::new(e.span(), "the format is a string literal, as in `println!`")
            })?
        };
        let mut call = Call {
            format,
            positional: Vec::new(),
            named: Vec::new(),
        };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
                let name: Ident = input.parse()?;
                input.parse::<Token![=]>()?;
                call.named.push((name, input.parse()?));
            } else if call.named.is_empty() {
                call.positional.push(input.parse()?);
            } else {
                return Err(input.error("a positional argument cannot follow a named one"));
            }
        }
        Ok(call)
    }
}

/// What the call is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Print,
    PrintLine,
    /// Gives the format that would be handed to printf: for the library's tests.
    Format,
}

pub fn print(tokens: TokenStream, purpose: Purpose) -> TokenStream {
    let expanded = syn::parse2::<Call>(tokens).and_then(|call| expand(&call, purpose));
    expanded.unwrap_or_else(syn::Error::into_compile_error)
}

/// One value handed to printf: an expression, and how it is to be shown.
struct Value {
    expression: TokenStream,
    span: Span,
    style: Ident,
}

fn expand(call: &Call, purpose: Purpose) -> syn::Result<TokenStream> {
    let mut pieces = format::parse(&call.format)?;
    if purpose == Purpose::PrintLine {
        pieces.push(Piece::Text("\n".into()));
    }
    let mut resolver = Resolver {
        call,
        used_positional: vec![false; call.positional.len()],
        used_named: HashMap::new(),
    };
    let mut values: Vec<Value> = Vec::new();
    let mut piece_tokens = Vec::new();
    for piece in &pieces {
        match piece {
            Piece::Text(text) => {
                let text = text.replace('%', "%%");
                piece_tokens.push(quote! { ::warpsmith_device::print::Piece::Text(#text) });
            }
            Piece::Placeholder(placeholder) => {
                let width = match &placeholder.width {
                    Width::None => quote! { ::warpsmith_device::print::Width::None },
                    Width::Fixed(n) => quote! { ::warpsmith_device::print::Width::Fixed(#n) },
                    Width::Argument(argument) => {
                        let (expression, span) = resolver.resolve(argument, &call.format)?;
                        let style = format_ident!("WidthArgument");
                        values.push(Value {
                            expression,
                            span,
                            style,
                        });
                        quote! { ::warpsmith_device::print::Width::Argument }
                    }
                };
                let (expression, span) = resolver.resolve(&placeholder.argument, &call.format)?;
                let style = format_ident!("{}", placeholder.style);
                values.push(Value {
                    expression,
                    span,
                    style,
                });
                let flags = &placeholder.flags;
                let left = match placeholder.left {
                    Some(left) => quote! { ::core::option::Option::Some(#left) },
                    None => quote! { ::core::option::Option::None },
                };
                let precision = match placeholder.precision {
                    Some(n) => quote! { ::core::option::Option::Some(#n) },
                    None => quote! { ::core::option::Option::None },
                };
                piece_tokens.push(quote! {
                    ::warpsmith_device::print::Piece::Argument {
                        flags: #flags, left: #left, width: #width, precision: #precision,
                    }
                });
            }
        }
    }
    resolver.all_used()?;
    if values.len() > MAX_ARGUMENTS {
        let message = format!(
            "CUDA prints at most {MAX_ARGUMENTS} arguments a call; this has {}",
            values.len()
        );
        return Err(syn::Error::new(call.format.span(), message));
    }
    Ok(emit(&values, &piece_tokens, purpose))
}

fn emit(values: &[Value], pieces: &[TokenStream], purpose: Purpose) -> TokenStream {
    let names: Vec<Ident> = (0..values.len())
        .map(|i| format_ident!("__value{i}"))
        .collect();
    let stores: Vec<Ident> = (0..values.len())
        .map(|i| format_ident!("__store{i}"))
        .collect();
    let types: Vec<Ident> = (0..values.len()).map(|i| format_ident!("T{i}")).collect();
    let references = values.iter().map(|value| {
        let expression = &value.expression;
        quote! { &(#expression) }
    });
    let patterns = &names;
    let make_stores = values.iter().zip(&names).zip(&stores).map(|((value, name), store)| {
        let style = &value.style;
        quote_spanned! { value.span=>
            let mut #store = ::warpsmith_device::print::storage::<::warpsmith_device::print::#style, _>(#name);
        }
    });
    let packed = values.iter().zip(&names).zip(&stores).map(|((value, name), store)| {
        let style = &value.style;
        quote_spanned! { value.span=>
            ::warpsmith_device::print::pack::<::warpsmith_device::print::#style, _>(#name, &mut #store)
        }
    });
    // A list of types: each argument's conversion, known to the compiler only.
    let list = values.iter().zip(&names).rev().fold(
        quote! { ::warpsmith_device::print::Nil },
        |rest, (value, name)| {
            let style = &value.style;
            quote! {
                ::warpsmith_device::print::cons::<::warpsmith_device::print::#style, _, _>(#name, #rest)
            }
        },
    );
    let action = match purpose {
        Purpose::Format => quote! { ::warpsmith_device::print::format_text(__Format, #list) },
        Purpose::Print | Purpose::PrintLine => quote! {
            #(#make_stores)*
            let __arguments = __Arguments(#(#packed),*);
            let __list = #list;
            // SAFETY: the structure has the packed values in the list's order, and their stores live.
            unsafe { ::warpsmith_device::print::send(__Format, __list, &__arguments) };
        },
    };
    quote! {{
        struct __Format;
        impl ::warpsmith_device::print::Format for __Format {
            const PIECES: &'static [::warpsmith_device::print::Piece] = &[#(#pieces),*];
        }
        #[allow(dead_code)]
        #[repr(C)]
        struct __Arguments<#(#types),*>(#(#types),*);
        match (#(#references,)*) {
            (#(#patterns,)*) => { #action }
        }
    }}
}

/// Finds the expressions that placeholders mean.
struct Resolver<'a> {
    call: &'a Call,
    used_positional: Vec<bool>,
    used_named: HashMap<String, ()>,
}

impl Resolver<'_> {
    fn resolve(
        &mut self,
        argument: &Argument,
        format: &LitStr,
    ) -> syn::Result<(TokenStream, Span)> {
        match argument {
            Argument::Position(n) => match self.call.positional.get(*n) {
                Some(expression) => {
                    self.used_positional[*n] = true;
                    Ok((quote! { #expression }, expression.span()))
                }
                // Named arguments have positions too, after the others.
                None => match self.call.named.get(*n - self.call.positional.len().min(*n)) {
                    Some((name, expression)) if *n >= self.call.positional.len() => {
                        self.used_named.insert(name.to_string(), ());
                        Ok((quote! { #expression }, expression.span()))
                    }
                    _ => Err(syn::Error::new(
                        format.span(),
                        format!(
                            "the format has a placeholder for argument {n} (counted from 0), but there are {} argument(s)",
                            self.call.positional.len() + self.call.named.len()
                        ),
                    )),
                },
            },
            Argument::Name(name) => {
                let given = self.call.named.iter().find(|(given, _)| given == name);
                match given {
                    Some((_, expression)) => {
                        self.used_named.insert(name.clone(), ());
                        Ok((quote! { #expression }, expression.span()))
                    }
                    None => {
                        let ident = Ident::new(name, format.span());
                        Ok((quote! { #ident }, format.span()))
                    }
                }
            }
        }
    }

    fn all_used(&self) -> syn::Result<()> {
        let positional = self
            .call
            .positional
            .iter()
            .zip(&self.used_positional)
            .find(|(_, used)| !**used);
        if let Some((expression, _)) = positional {
            return Err(syn::Error::new_spanned(
                expression,
                "this argument is never used in the format",
            ));
        }
        match self
            .call
            .named
            .iter()
            .find(|(name, _)| !self.used_named.contains_key(&name.to_string()))
        {
            Some((name, _)) => Err(syn::Error::new(
                name.span(),
                "this argument is never used in the format",
            )),
            None => Ok(()),
        }
    }
}
