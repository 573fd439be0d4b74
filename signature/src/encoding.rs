//! Texts as words of a comment: without spaces, and of printable ASCII.

/// The text as one word. Bytes that are not printable, spaces and `%` are written as `%` and two digits of base 16; no text at all is `%`.
pub(crate) fn encode(text: &str) -> String {
    if text.is_empty() {
        return "%".into();
    }
    let mut word = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' => word.push_str("%25"),
            0x21..=0x7e => word.push(byte.into()),
            _ => word.push_str(&format!("%{byte:02x}")),
        }
    }
    word
}

/// The text that a word was made of; `None` if it was made of none.
pub(crate) fn decode(word: &str) -> Option<String> {
    if word == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        rest = others;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, others) = others.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = others;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_words_and_come_back() {
        for text in [
            "",
            "plain",
            "two words",
            "100 % \u{1}\n\"quoted\" \u{e4}\u{20ac}",
        ] {
            let word = encode(text);
            assert!(word.bytes().all(|byte| byte.is_ascii_graphic()), "{word}");
            assert_eq!(decode(&word).as_deref(), Some(text));
        }
        for wrong in ["%2", "a%zz", "%ff"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
