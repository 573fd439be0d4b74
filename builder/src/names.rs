//! Symbols as people write them.

/// A Rust path instead of a mangled symbol; any other name as it is.
pub(crate) fn demangle(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// A text with Rust paths for the mangled symbols in it.
pub(crate) fn demangle_words(text: &str) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_$.".contains(character);
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let word = &rest[start..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        // A full stop behind a symbol ends the sentence.
        let symbol = word[..end].trim_end_matches('.');
        plain += &rest[..start];
        plain += &demangle(symbol);
        plain += &word[symbol.len()..end];
        rest = &word[end..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_in_a_text_become_paths() {
        let text = "ptxas warning : Stack size for '_RNvNtCs1234_7kernels4tree5visit', _ZN7kernels4tree5visit17h0123456789abcdefE. x_1 = $L.";
        assert_eq!(
            demangle_words(text),
            "ptxas warning : Stack size for 'kernels::tree::visit', kernels::tree::visit. x_1 = $L."
        );
    }
}
