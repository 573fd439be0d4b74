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
        let at = self.at();
        if self.accept_dotted("address_size") {
            module.address_size = self.integer("32 or 64")?;
            if module.address_size != 64 {
                return Err(Error::new(
                    at,
                    "only modules with `.address_size 64` are supported",
                ));
            }
        }
        while self.token().kind != TokenKind::End {
            self.module_statement(&mut module)?;
        }
        names::check(&module)?;
        Ok(module)
    }

    fn module_statement(&mut self, module: &mut Module<'a>) -> Result<()> {
        let start = self.token();
        if start.kind != TokenKind::Dotted {
            return Err(self.unexpected("a directive"));
        }
        match start.text {
            "file" => {
                let file = self.file()?;
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
