//! What a kernel's signature must not have, each with a message that says what to write instead.

use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, ReturnType, Type};

pub fn signature(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    let mut errors: Option<syn::Error> = None;
    let mut refuse = |span: proc_macro2::Span, message: &str| {
        let error = syn::Error::new(span, message);
        match &mut errors {
            Some(all) => all.combine(error),
            None => errors = Some(error),
        }
    };
    if let Some(token) = &signature.asyncness {
        refuse(
            token.span(),
            "a kernel cannot be `async`: it runs on the device, and the launch is asynchronous already",
        );
    }
    if let Some(token) = &signature.constness {
        refuse(token.span(), "a kernel cannot be `const`");
    }
    if let Some(abi) = &signature.abi {
        refuse(
            abi.span(),
            "a kernel has no `extern` ABI of its own: `#[kernel]` makes the entry",
        );
    }
    if let Some(variadic) = &signature.variadic {
        refuse(variadic.span(), "a kernel cannot be variadic");
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        let unit = matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty());
        let never = matches!(&**ty, Type::Never(_));
        if !unit && !never {
            refuse(
                ty.span(),
                "a kernel returns nothing: write results through an output view such as `PerThread<[f32]>`",
            );
        }
    }
    for input in &signature.inputs {
        if let FnArg::Receiver(receiver) = input {
            refuse(
                receiver.span(),
                "a kernel is a free function: it cannot take `self`",
            );
        }
    }
    match errors {
        None => Ok(()),
        Some(error) => Err(error),
    }
}
