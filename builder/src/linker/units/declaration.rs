//! Declarations of what another unit defines, made of the text of the definition.

use std::fmt::Write;

/// The declaration of a variable, of the text behind its name and linkage.
pub(super) fn of_variable(text: &str) -> Option<String> {
    let at = ["global ", "constant "]
        .iter()
        .filter_map(|word| Some(text.find(word)? + word.len()))
        .min()?;
    let (head, rest) = text.split_at(at);
    let mut declaration = format!("{head}{}", &rest[..length_of_type(rest)]);
    if let Some((_, align)) = rest.trim_end().rsplit_once(", align ")
        && align.bytes().all(|byte| byte.is_ascii_digit())
    {
        let _ = write!(declaration, ", align {align}");
    }
    Some(declaration)
}

/// The length of the type that `text` begins with.
fn length_of_type(text: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'{' | b'[' | b'(' => depth += 1,
            b'>' | b'}' | b']' | b')' => depth -= 1,
            b' ' if depth == 0 && !text[at..].starts_with(" addrspace(") => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_declared_by_their_type() {
        for (definition, declaration) in [
            (
                "addrspace(1) externally_initialized global [4 x i8] zeroinitializer, align 4\n",
                "addrspace(1) externally_initialized global [4 x i8], align 4",
            ),
            (
                "global <{ ptr, [8 x i8] }> <{ ptr @a, [8 x i8] undef }>, section \"x\", align 8\n",
                "global <{ ptr, [8 x i8] }>, align 8",
            ),
            ("global ptr addrspace(3) null\n", "global ptr addrspace(3)"),
        ] {
            assert_eq!(of_variable(definition).as_deref(), Some(declaration));
        }
    }
}
