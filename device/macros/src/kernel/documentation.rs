//! What rustdoc says of the items that stand for a kernel.

use quote::ToTokens;
use syn::ItemFn;

/// The paragraph behind the kernel's own documentation: its signature, which the launcher does not show.
pub fn of_launcher(function: &ItemFn) -> String {
    let parameters: Vec<String> = function
        .sig
        .inputs
        .iter()
        .map(|parameter| compact(&parameter.to_token_stream().to_string()))
        .collect();
    let unsafety = match super::is_unsafe(function) {
        true => "unsafe ",
        false => "",
    };
    format!(
        "\n\nThe launcher of the kernel `{unsafety}fn {}({})`: its name is what `module.kernel(..)` takes. It cannot be called.",
        function.sig.ident,
        parameters.join(", ")
    )
}

/// Tokens without the spaces that nobody writes.
fn compact(tokens: &str) -> String {
    let mut text = tokens.to_owned();
    for (spaced, plain) in [
        (" :: ", "::"),
        (" : ", ": "),
        ("& ", "&"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
    ] {
        text = text.replace(spaced, plain);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_shows_the_signature() {
        let function = syn::parse_quote! {
            pub unsafe fn saxpy(a: f32, x: &[f32], mut y: PerThread<'_, [f32]>, m: view::Matrix<u8>) {}
        };
        let text = of_launcher(&function);
        let signature = "`unsafe fn saxpy(a: f32, x: &[f32], mut y: PerThread<'_, [f32]>, m: view::Matrix<u8>)`";
        assert!(text.contains(signature), "{text}");
    }
}
