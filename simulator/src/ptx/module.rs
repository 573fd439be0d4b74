//! The module level.

use super::ast::{Linkage, Module};
use super::error::{Error, Result};
use super::lexer::TokenKind;
use super::names;
use super::parser::Parser;
use super::rules::Place;

/// Parses a module.
pub fn parse(text: &str) -> Result<Module<'_>> {
    Parser::new(text)?.module()
}

impl<'a> Parser<'a> {
    fn module(&mut self) -> Result<Module<'a>> {
        let mut module = Module::new(self.module_head()?);
        while self.token().kind != TokenKind::End {
            self.module_statement(&mut module)?;
        }
        names::check(&module)?;
        match module.head.debug {
            Some(at) if !module.has_sections => {
                let message = "Debug information not found in presence of .target debug";
                Err(Error::new(at, message))
            }
            _ => Ok(module),
        }
    }

    fn module_statement(&mut self, module: &mut Module<'a>) -> Result<()> {
        let start = self.token();
        if start.kind != TokenKind::Dotted {
            return Err(self.unexpected("a directive"));
        }
        match start.text {
            "file" => {
                let file = self.file(&module.files)?;
                module.files.push(file);
            }
            "section" => self.section(module)?,
            "pragma" => self.pragma()?,
            "alias" => {
                self.advance();
                let (name, at) = self.name("a function's name")?;
                self.expect(",")?;
                let (target, _) = self.name("a function's name")?;
                self.expect(";")?;
                module.aliases.push((name, target, at));
            }
            _ => {
                let linkage = self.linkage();
                if matches!(self.token().kind, TokenKind::Dotted)
                    && matches!(self.token().text, "entry" | "func")
                {
                    if linkage == Linkage::Common {
                        return Err(self.unexpected("a variable after `.common`"));
                    }
                    let function = self.function(linkage, module)?;
                    module.functions.push(function);
                } else {
                    let variables = self.variables(linkage, Place::Module)?;
                    module.variables.extend(variables);
                }
            }
        }
        Ok(())
    }

    fn linkage(&mut self) -> Linkage {
        let linkage = match (self.token().kind, self.token().text) {
            (TokenKind::Dotted, "visible") => Linkage::Visible,
            (TokenKind::Dotted, "weak") => Linkage::Weak,
            (TokenKind::Dotted, "common") => Linkage::Common,
            (TokenKind::Dotted, "extern") => Linkage::Extern,
            _ => return Linkage::Private,
        };
        self.advance();
        linkage
    }

    /// `.pragma "text";`: hints, skipped.
    pub fn pragma(&mut self) -> Result<()> {
        self.advance();
        loop {
            if self.token().kind != TokenKind::String {
                return Err(self.unexpected("a string"));
            }
            self.advance();
            if !self.accept(",") {
                break;
            }
        }
        self.expect(";")
    }
}
