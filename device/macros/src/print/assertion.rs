//! `gpu_assert!`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, LitStr, Token};

struct Assertion {
    condition: Expr,
    message: Option<LitStr>,
}

impl Parse for Assertion {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let condition = input.parse()?;
        let mut message = None;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                message = Some(input.parse().map_err(|e| {
                    syn::Error::new(e.span(), "the message is a string literal: CUDA's assertion takes no arguments (`assert!` does)")
                })?);
            }
            let _: Option<Token![,]> = input.parse()?;
            if !input.is_empty() {
                return Err(input.error(
                    "the message takes no arguments: CUDA's assertion has none (`assert!` does)",
                ));
            }
        }
        Ok(Assertion { condition, message })
    }
}

pub fn assert(tokens: TokenStream) -> TokenStream {
    match syn::parse2::<Assertion>(tokens) {
        Ok(assertion) => expand(&assertion),
        Err(error) => error.into_compile_error(),
    }
}

fn expand(assertion: &Assertion) -> TokenStream {
    let condition = &assertion.condition;
    // As written, where the compiler can tell.
    let written = syn::spanned::Spanned::span(condition).source_text();
    let mut text = written.unwrap_or_else(|| quote! { #condition }.to_string());
    // A zero would end the C string early.
    text.retain(|c| c != '\0');
    if let Some(message) = &assertion.message {
        text = format!("{text}, \"{}\"", message.value().replace('\0', ""));
    }
    let text = syn::LitCStr::new(
        &std::ffi::CString::new(text).unwrap_or_default(),
        Span::call_site(),
    );
    quote! {
        if !(#condition) {
            // SAFETY: a zero was just appended to both texts.
            unsafe {
                ::warpsmith_device::print::assertion_failed(
                    #text,
                    ::core::concat!(::core::file!(), "\0"),
                    ::core::line!(),
                    ::core::concat!(::core::module_path!(), "\0"),
                )
            }
        }
    }
}
