//! Source locations and debug sections.

use super::ast::{DebugString, Location, Module, SourcePoint};
use super::error::{Error, Result};
use super::lexer::TokenKind;
use super::number::{Number, number};
use super::parser::Parser;

impl<'a> Parser<'a> {
    /// `.file N "name" [, timestamp [, size]]`, of another number than those before it.
    pub fn file(&mut self, before: &[(u32, String)]) -> Result<(u32, String)> {
        let at = self.advance().at;
        let index = self.integer("the number of a file")?;
        let name = self.token();
        if name.kind != TokenKind::String {
            return Err(self.unexpected("the name of a file"));
        }
        self.advance();
        for what in ["a time stamp", "a size"] {
            if !self.accept(",") {
                break;
            }
            if self.token().kind != TokenKind::Number {
                return Err(self.unexpected(what));
            }
            self.advance();
        }
        if before.iter().any(|&(other, _)| other == index) {
            return Err(Error::new(at, format!("Duplicate file index #{index}")));
        }
        Ok((index, name.text.replace("\\\\", "\\").replace("\\\"", "\"")))
    }

    /// `.loc file line column [, function_name label [+ n]] [, inlined_at file line column]`
    pub fn location(&mut self) -> Result<Location<'a>> {
        self.advance();
        let mut location = Location {
            point: self.source_point()?,
            ..Location::default()
        };
        while self.is(",") {
            self.advance();
            let (word, at) = self.name("`function_name` or `inlined_at`")?;
            match word {
                "function_name" => {
                    let (label, _) = self.name("a label")?;
                    let offset = if self.accept("+") {
                        self.integer("an offset")?
                    } else {
                        0
                    };
                    location.function_name = Some(DebugString { label, offset });
                }
                "inlined_at" => location.inlined_at = Some(self.source_point()?),
                _ => {
                    return Err(Error::new(
                        at,
                        format!("`{word}` does not belong to `.loc`"),
                    ));
                }
            }
        }
        Ok(location)
    }

    fn source_point(&mut self) -> Result<SourcePoint> {
        Ok(SourcePoint {
            file: self.integer("the number of a file")?,
            line: self.integer("a line")?,
            column: self.integer("a column")?,
        })
    }

    /// `.section NAME { .. }`: debug information. Only the strings are kept, for the names of inlined functions.
    pub fn section(&mut self, module: &mut Module<'a>) -> Result<()> {
        module.has_sections = true;
        self.advance();
        let name = self.advance();
        let keeps_strings = name.kind == TokenKind::Dotted && name.text == "debug_str";
        let open = self.at();
        self.expect("{")?;
        let mut depth = 1u32;
        while depth > 0 {
            let token = self.advance();
            match (token.kind, token.text) {
                (TokenKind::End, _) => return Err(Error::new(open, "this section has no end")),
                (TokenKind::Punctuation, "{") => depth += 1,
                (TokenKind::Punctuation, "}") => depth -= 1,
                (TokenKind::Name, label) if keeps_strings && self.is(":") => {
                    module.debug_strings.start(label);
                }
                (TokenKind::Number, _) if keeps_strings => {
                    if let Number::Int(value) = number(&token)?
                        && let Ok(byte) = u8::try_from(value)
                    {
                        module.debug_strings.push(byte);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}
