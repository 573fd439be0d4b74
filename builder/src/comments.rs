//! What of a source file the compiler sees: the text without comments.

/// The source with spaces in the place of comments, and nothing at the ends of lines. Whatever is not a comment stays at its line and column.
/// Comments of documentation are attributes, which a macro may read, and stay.
pub(crate) fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if is_line_comment(rest) => {
                let length = rest.find('\n').unwrap_or(rest.len());
                end_line(&mut code);
                rest = &rest[length..];
                continue;
            }
            '/' if is_block_comment(rest) => {
                let length = block_comment(rest);
                let blank = |c| if c == '\n' { '\n' } else { ' ' };
                code.extend(rest[..length].chars().map(blank));
                rest = &rest[length..];
                continue;
            }
            // With its end: blanks before it are a part of the documentation.
            '/' if rest.starts_with("//") => rest.find('\n').map_or(rest.len(), |end| end + 1),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            '\'' => character(rest),
            'r' => raw_string(rest).unwrap_or_else(|| word(rest)),
            '\n' => {
                end_line(&mut code);
                1
            }
            // Raw strings of bytes, and C's.
            'b' | 'c' => raw_string(&rest[1..]).map_or_else(|| word(rest), |length| 1 + length),
            c if c.is_alphanumeric() || c == '_' => word(rest),
            c => c.len_utf8(),
        };
        code.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    code.truncate(code.trim_end().len());
    code
}

fn end_line(code: &mut String) {
    code.truncate(code.trim_end_matches([' ', '\t', '\r']).len());
}

/// `//`, but neither `///` nor `//!`, which are documentation; `////` is none.
fn is_line_comment(text: &str) -> bool {
    text.starts_with("//")
        && !text.starts_with("//!")
        && (!text.starts_with("///") || text.starts_with("////"))
}

/// `/*`, but neither `/**` nor `/*!`; `/***` and `/**/` are no documentation.
fn is_block_comment(text: &str) -> bool {
    text.starts_with("/*")
        && !text.starts_with("/*!")
        && (!text.starts_with("/**") || text.starts_with("/***") || text.starts_with("/**/"))
}

/// The length of a comment in `/*` and `*/`, with those inside of it.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of a string in quotes.
fn string(text: &str) -> usize {
    let mut at = 1;
    while let Some(found) = text[at..].find(['"', '\\']) {
        at += found + 1;
        if text.as_bytes()[at - 1] == b'"' {
            return at;
        }
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    text.len()
}

/// The length of a character in quotes, or of a lifetime's quote.
fn character(text: &str) -> usize {
    let mut chars = text[1..].chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), Some(escaped)) => {
            let behind = 2 + escaped.len_utf8();
            text[behind..]
                .find('\'')
                .map_or(text.len(), |end| behind + end + 1)
        }
        (Some(character), Some('\'')) => 2 + character.len_utf8(),
        _ => 1,
    }
}

/// The length of `r"..."` or `r#"..."#`; `None` for other words with `r`.
fn raw_string(text: &str) -> Option<usize> {
    let hashed = text.strip_prefix('r')?;
    let hashes = hashed.bytes().take_while(|&byte| byte == b'#').count();
    let start = 1 + hashes;
    if text.as_bytes().get(start) != Some(&b'"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let length = text[start + 1..].find(&end);
    Some(length.map_or(text.len(), |length| start + 1 + length + end.len()))
}

/// The length of a word.
fn word(text: &str) -> usize {
    let end = |c: char| !(c.is_alphanumeric() || c == '_');
    text.find(end).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_code_stays_where_it_is() {
        for (source, code) in [
            ("a // b\nc", "a\nc"),
            ("a\n", "a"),
            ("a  \r\n\tb\n\n", "a\n\tb"),
            ("a /* b */ c", "a         c"),
            ("a /* b\n /* c */ */ d", "a     \n            d"),
            ("//// a\nb", "\nb"),
            ("a /**/ b /***/ c", "a      b       c"),
        ] {
            assert_eq!(without_comments(source), code, "{source:?}");
        }
    }

    #[test]
    fn what_looks_like_a_comment_stays() {
        for source in [
            "/// a",
            "//! a",
            "/** a */ b",
            "/*! a */ b",
            r#"let a = "// b";"#,
            r#"let a = "\"// b";"#,
            r##"let a = r"\"; let b = "//";"##,
            r###"let a = r#"" // b"#;"###,
            r###"let a = br#"" // b"#;"###,
            r#"let a = b"// c";"#,
            r#"let a = ('"', "// b");"#,
            r#"let a = ('\'', '\\', "// b");"#,
            r#"let a = ('\u{22}', '→', "// b");"#,
            r#"fn a<'a>(b: &'a str) { c("// d") }"#,
            r##"r#fn("// a")"##,
            r#"far("// a"); bar"// b""#,
        ] {
            assert_eq!(without_comments(source), source);
        }
        assert_eq!(without_comments("'a' // b\n'\"' // \"\n"), "'a'\n'\"'");
    }
}
