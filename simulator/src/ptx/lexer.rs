//! The lexer: text to tokens with their positions.

use super::ast::Position;
use super::error::{Error, Result};

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name; may start with `%`, `$`, `_`.
    Name,
    /// `.name`, with `::` parts; the text excludes the dot.
    Dotted,
    /// A number of any form.
    Number,
    /// A string; the text excludes the quotes.
    String,
    /// One of `( ) [ ] { } < > , ; : + - * / % ! ~ | & ^ = @ ?` or `<<`, `>>`, `&&`, `||`, `==`, `!=`, `<=`, `>=`.
    Punctuation,
    /// End of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// Its kind.
    pub kind: TokenKind,
    /// Its text.
    pub text: &'a str,
    /// Its position.
    pub at: Position,
}

impl Token<'_> {
    /// The token as an error message shows it.
    pub fn describe(&self) -> String {
        match self.kind {
            TokenKind::End => "the end of the text".into(),
            TokenKind::Dotted => format!("'.{}'", self.text),
            TokenKind::String => format!("'\"{}\"'", self.text),
            _ => format!("'{}'", self.text),
        }
    }
}

/// Splits a text into tokens; the last one is [`TokenKind::End`].
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        offset: 0,
        line: 1,
        line_start: 0,
    };
    // Most tokens are three to four bytes with their separators.
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    offset: usize,
    line: u32,
    line_start: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'a> Lexer<'a> {
    fn at(&self, offset: usize) -> Position {
        Position {
            line: self.line,
            column: (offset - self.line_start) as u32 + 1,
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.offset + ahead).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            match self.peek(0) {
                b'\n' => {
                    self.offset += 1;
                    self.line += 1;
                    self.line_start = self.offset;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.offset += 1,
                b'/' if self.peek(1) == b'/' => {
                    while self.offset < self.bytes.len() && self.peek(0) != b'\n' {
                        self.offset += 1;
                    }
                }
                b'/' if self.peek(1) == b'*' => {
                    let start = self.at(self.offset);
                    self.offset += 2;
                    while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
                        if self.offset >= self.bytes.len() {
                            return Err(Error::new(start, "this comment has no end"));
                        }
                        if self.peek(0) == b'\n' {
                            self.line += 1;
                            self.line_start = self.offset + 1;
                        }
                        self.offset += 1;
                    }
                    self.offset += 2;
                }
                // nvcc and the driver accept a terminating zero byte.
                0 if self.offset < self.bytes.len() => self.offset = self.bytes.len(),
                _ => return Ok(()),
            }
        }
    }

    fn words(&mut self) {
        while is_word(self.peek(0)) {
            self.offset += 1;
        }
    }

    fn next(&mut self) -> Result<Token<'a>> {
        self.skip_blanks()?;
        let start = self.offset;
        let at = self.at(start);
        let first = self.peek(0);
        if start >= self.bytes.len() {
            return Ok(Token {
                kind: TokenKind::End,
                text: "",
                at,
            });
        }
        let (kind, from) = match first {
            b'.' if is_word(self.peek(1)) => {
                self.offset += 1;
                self.words();
                while self.peek(0) == b':' && self.peek(1) == b':' && is_word(self.peek(2)) {
                    self.offset += 2;
                    self.words();
                }
                (TokenKind::Dotted, start + 1)
            }
            b'0'..=b'9' => {
                self.number();
                (TokenKind::Number, start)
            }
            b'%' if is_word(self.peek(1)) => {
                self.offset += 1;
                self.words();
                (TokenKind::Name, start)
            }
            _ if is_word(first) => {
                self.words();
                (TokenKind::Name, start)
            }
            b'"' => {
                self.offset += 1;
                while self.peek(0) != b'"' {
                    if self.offset >= self.bytes.len() || self.peek(0) == b'\n' {
                        return Err(Error::new(at, "this string has no end"));
                    }
                    self.offset += if self.peek(0) == b'\\' { 2 } else { 1 };
                }
                let text = self.text.get(start + 1..self.offset).unwrap_or("");
                self.offset += 1;
                return Ok(Token {
                    kind: TokenKind::String,
                    text,
                    at,
                });
            }
            _ => {
                let two = self.bytes.get(start..start + 2).unwrap_or(b"");
                if matches!(
                    two,
                    b"<<" | b">>" | b"&&" | b"||" | b"==" | b"!=" | b"<=" | b">="
                ) {
                    self.offset += 2;
                } else if b"()[]{}<>,;:+-*/%!~|&^=@?.".contains(&first) {
                    self.offset += 1;
                } else {
                    let character = self.text[start..].chars().next().unwrap_or('?');
                    return Err(Error::new(
                        at,
                        format!(
                            "Parsing error near '{character}': syntax error: this character does not belong to PTX"
                        ),
                    ));
                }
                (TokenKind::Punctuation, start)
            }
        };
        Ok(Token {
            kind,
            text: &self.text[from..self.offset],
            at,
        })
    }

    fn number(&mut self) {
        let prefixed = self.peek(0) == b'0'
            && matches!(
                self.peek(1),
                b'x' | b'X' | b'f' | b'F' | b'd' | b'D' | b'b' | b'B'
            );
        if prefixed {
            self.offset += 2;
            self.words();
            return;
        }
        self.words();
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.offset += 1;
            self.words();
        }
        let exponent = matches!(self.bytes[self.offset - 1], b'e' | b'E')
            && matches!(self.peek(0), b'+' | b'-');
        if exponent {
            self.offset += 1;
            self.words();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_instructions() {
        let text =
            "@!%p1 ld.shared::cta.v2.f32 {%f1, _}, [%rd1+-4]; // c\n$L: .version 8.7 0f3F800000";
        let texts: Vec<_> = tokens(text).unwrap().iter().map(|t| t.text).collect();
        let expected = "@ ! %p1 ld shared::cta v2 f32 { %f1 , _ } , [ %rd1 + - 4 ] ; $L : version 8.7 0f3F800000";
        assert_eq!(texts.join(" ").trim_end(), expected);
    }

    #[test]
    fn names_the_place_of_strangers() {
        let error = tokens("mov\n  #").unwrap_err();
        assert_eq!((error.line, error.column), (2, 3));
        assert!(tokens("/* open").unwrap_err().message.contains("no end"));
    }
}
