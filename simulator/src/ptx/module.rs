//! The module level.

use super::ast::{Linkage, Module, Space};
use super::error::{Error, Result};
use super::lexer::{Token, TokenKind};
use super::parser::Parser;

/// Parses a module.
pub fn parse(text: &str) -> Result<Module<'_>> {
    Parser::new(text)?.module()
}

impl<'a> Parser<'a> {
    fn module(&mut self) -> Result<Module<'a>> {
        let mut module = Module {
            address_size: 64,
            ..Module::default()
        };
        if !self.accept_dotted("version") {
            return Err(self.unexpected("`.version` at the start of the module"));
        }
        let version = self.advance();
        let parts = version
            .text
            .split_once('.')
            .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        module.version = parts.ok_or_else(|| {
            Error::new(
                version.at,
                "expected a version such as `8.0` after `.version`",
            )
        })?;
        if !self.accept_dotted("target") {
            return Err(self.unexpected("`.target` after the version"));
        }
        module.target = self
            .name("an architecture such as `sm_90` after `.target`")?
            .0;
        while self.accept(",") {
            self.name("a target option")?;
        }
        while self.token().kind != TokenKind::End {
            self.module_statement(&mut module)?;
        }
        Ok(module)
    }

    fn module_statement(&mut self, module: &mut Module<'a>) -> Result<()> {
        if self.accept(";") {
            return Ok(());
        }
        let start = self.token();
        if start.kind != TokenKind::Dotted {
            return Err(self.unexpected("a directive"));
        }
        match start.text {
            "address_size" => {
                self.advance();
                module.address_size = self.integer("32 or 64")?;
                if module.address_size != 64 {
                    return Err(Error::new(
                        start.at,
                        "only modules with `.address_size 64` are supported",
                    ));
                }
            }
            "file" => {
                let file = self.file()?;
                module.files.push(file);
            }
            "loc" => {
                self.location()?;
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
                let linkage = self.linkage()?;
                match self.token() {
                    Token {
                        kind: TokenKind::Dotted,
                        text: "entry" | "func",
                        ..
                    } => {
                        let function = self.function(linkage, module)?;
                        module.functions.push(function);
                    }
                    Token {
                        kind: TokenKind::Dotted,
                        text: "global" | "const" | "shared" | "tex" | "local",
                        ..
                    } => {
                        let variables = self.variables(linkage)?;
                        if let Some(wrong) = variables.iter().find(|v| v.space == Space::Local) {
                            return Err(Error::new(
                                wrong.at,
                                "`.local` variables exist only inside functions",
                            ));
                        }
                        module.variables.extend(variables);
                    }
                    _ => {
                        return Err(self.unexpected("a function, a variable or a module directive"));
                    }
                }
            }
        }
        Ok(())
    }

    fn linkage(&mut self) -> Result<Linkage> {
        let mut linkage = Linkage::Private;
        loop {
            linkage = match self.token() {
                Token {
                    kind: TokenKind::Dotted,
                    text: "visible" | "weak" | "common",
                    ..
                } => Linkage::Visible,
                Token {
                    kind: TokenKind::Dotted,
                    text: "extern",
                    ..
                } => Linkage::Extern,
                _ => return Ok(linkage),
            };
            self.advance();
        }
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
