//! Cuts a source file into comments and code.

/// What a piece of a source file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A comment that the compiler does not see. One of a line ends before the line does.
    Comment,
    /// A comment of documentation: it is an attribute, which a macro may read, with the blanks at its end.
    Documentation,
    /// A string or a character in quotes, or a lifetime's quote.
    Literal,
    /// A keyword, a name or a number.
    Word,
    /// The end of a line outside of the other pieces.
    Newline,
    /// Another character.
    Other,
}

/// The pieces of a source file, which are all of its text.
pub(crate) fn pieces(source: &str) -> impl Iterator<Item = (PieceKind, &str)> {
    let mut rest = source;
    std::iter::from_fn(move || {
        let (kind, length) = first_piece(rest)?;
        let (piece, others) = rest.split_at(length);
        rest = others;
        Some((kind, piece))
    })
}

/// The kind and the length of the piece that `rest` begins with.
fn first_piece(rest: &str) -> Option<(PieceKind, usize)> {
    let line = || rest.find('\n').unwrap_or(rest.len());
    let word_or = |string: Option<usize>| match string {
        Some(length) => (PieceKind::Literal, length),
        None => (PieceKind::Word, word(rest)),
    };
    Some(match rest.chars().next()? {
        '/' if is_line_comment(rest) => (PieceKind::Comment, line()),
        '/' if is_block_comment(rest) => (PieceKind::Comment, block_comment(rest)),
        '/' if rest.starts_with("//") => (PieceKind::Documentation, line()),
        '/' if rest.starts_with("/*") => (PieceKind::Documentation, block_comment(rest)),
        '"' => (PieceKind::Literal, string(rest)),
        '\'' => (PieceKind::Literal, character(rest)),
        'r' => word_or(raw_string(rest)),
        '\n' => (PieceKind::Newline, 1),
        // Raw strings of bytes, and C's.
        'b' | 'c' => word_or(raw_string(&rest[1..]).map(|length| 1 + length)),
        c if c.is_alphanumeric() || c == '_' => (PieceKind::Word, word(rest)),
        c => (PieceKind::Other, c.len_utf8()),
    })
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

    /// The comments of a source.
    fn comments(source: &str) -> Vec<&str> {
        let all: String = pieces(source).map(|(_, piece)| piece).collect();
        assert_eq!(all, source);
        let comments = pieces(source).filter(|(kind, _)| *kind == PieceKind::Comment);
        comments.map(|(_, piece)| piece).collect()
    }

    #[test]
    fn comments_are_found() {
        for (source, found) in [
            ("a // b\nc", &["// b"][..]),
            ("a /* b */ c", &["/* b */"]),
            ("a /* b\n /* c */ */ d", &["/* b\n /* c */ */"]),
            ("//// a\nb", &["//// a"]),
            ("a /**/ b /***/ c", &["/**/", "/***/"]),
            ("'a' // b\n'\"' // \"\n", &["// b", "// \""]),
        ] {
            assert_eq!(comments(source), found, "{source:?}");
        }
    }

    #[test]
    fn what_looks_like_a_comment_is_none() {
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
            assert_eq!(comments(source), [""; 0], "{source:?}");
        }
    }
}
