//! The parser's core and the module level.

use super::ast::{Float, Linkage, Module, Position, Space};
use super::constant::{Number, number};
use super::lexer::{Kind, Token, tokens};
use super::{Error, Result};

/// Nesting deeper than this is refused, so that no input can exhaust the stack.
const MAX_DEPTH: u32 = 200;

/// Parses a module.
pub fn parse(text: &str) -> Result<Module<'_>> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
    };
    parser.module()
}

/// The parser's state.
pub struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    /// The token to be read next.
    pub fn token(&self) -> Token<'a> {
        self.tokens[self.next]
    }

    /// The token after it.
    pub fn token_after(&self, count: usize) -> Token<'a> {
        self.tokens[(self.next + count).min(self.tokens.len() - 1)]
    }

    /// Where the next token stands.
    pub fn at(&self) -> Position {
        self.token().at
    }

    /// Takes the next token.
    pub fn advance(&mut self) -> Token<'a> {
        let token = self.token();
        if token.kind != Kind::End {
            self.next += 1;
        }
        token
    }

    /// Puts the last token back.
    pub fn step_back(&mut self) {
        self.next -= 1;
    }

    /// The error that something else was expected here.
    pub fn unexpected(&self, expected: &str) -> Error {
        Error::new(
            self.at(),
            format!("expected {expected}, found {}", self.token().describe()),
        )
    }

    /// Whether the next token is this punctuation.
    pub fn is(&self, text: &str) -> bool {
        self.token().kind == Kind::Punctuation && self.token().text == text
    }

    /// Whether the next token is this directive or modifier.
    pub fn is_dotted(&self, text: &str) -> bool {
        self.token().kind == Kind::Dotted && self.token().text == text
    }

    /// Takes this punctuation if it is next.
    pub fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }

    /// Takes this directive if it is next.
    pub fn accept_dotted(&mut self, text: &str) -> bool {
        let found = self.is_dotted(text);
        if found {
            self.advance();
        }
        found
    }

    /// Takes this punctuation or fails.
    pub fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{text}`")))
        }
    }

    /// Takes a name or fails.
    pub fn name(&mut self, what: &str) -> Result<(&'a str, Position)> {
        let token = self.token();
        if token.kind != Kind::Name {
            return Err(self.unexpected(what));
        }
        self.advance();
        Ok((token.text, token.at))
    }

    /// Takes a directive's plain non-negative integer.
    pub fn integer(&mut self, what: &str) -> Result<u32> {
        let token = self.token();
        if token.kind == Kind::Number
            && let Number::Int(value) = number(&token)?
            && let Ok(value) = u32::try_from(value)
        {
            self.advance();
            return Ok(value);
        }
        Err(self.unexpected(what))
    }

    /// Enters a level of nesting.
    pub fn enter(&mut self) -> Result<u32> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::new(
                self.at(),
                format!("nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        self.depth += 1;
        Ok(self.depth - 1)
    }

    /// Leaves a level of nesting.
    pub fn leave(&mut self, depth: u32) {
        self.depth = depth;
    }

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
        while self.token().kind != Kind::End {
            self.module_statement(&mut module)?;
        }
        Ok(module)
    }

    fn module_statement(&mut self, module: &mut Module<'a>) -> Result<()> {
        if self.accept(";") {
            return Ok(());
        }
        let start = self.token();
        if start.kind != Kind::Dotted {
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
            "section" => self.section()?,
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
                        kind: Kind::Dotted,
                        text: "entry" | "func",
                        ..
                    } => {
                        let function = self.function(linkage, module)?;
                        module.functions.push(function);
                    }
                    Token {
                        kind: Kind::Dotted,
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
                    kind: Kind::Dotted,
                    text: "visible" | "weak" | "common",
                    ..
                } => Linkage::Visible,
                Token {
                    kind: Kind::Dotted,
                    text: "extern",
                    ..
                } => Linkage::Extern,
                _ => return Ok(linkage),
            };
            self.advance();
        }
    }

    /// `.file N "name" [, timestamp, size]`
    pub fn file(&mut self) -> Result<(u32, String)> {
        self.advance();
        let index = self.integer("the number of a file")?;
        let name = self.token();
        if name.kind != Kind::String {
            return Err(self.unexpected("the name of a file"));
        }
        self.advance();
        while self.accept(",") {
            self.advance();
        }
        Ok((index, name.text.replace("\\\\", "\\").replace("\\\"", "\"")))
    }

    /// `.section NAME { .. }`: debug information, skipped.
    pub fn section(&mut self) -> Result<()> {
        self.advance();
        self.advance();
        let open = self.at();
        self.expect("{")?;
        let mut depth = 1u32;
        while depth > 0 {
            let token = self.advance();
            match (token.kind, token.text) {
                (Kind::End, _) => return Err(Error::new(open, "this section has no end")),
                (Kind::Punctuation, "{") => depth += 1,
                (Kind::Punctuation, "}") => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// `.pragma "text";`: hints, skipped.
    pub fn pragma(&mut self) -> Result<()> {
        self.advance();
        loop {
            if self.token().kind != Kind::String {
                return Err(self.unexpected("a string"));
            }
            self.advance();
            if !self.accept(",") {
                break;
            }
        }
        self.expect(";")
    }

    /// A floating-point constant, perhaps negated, if one is next.
    pub fn float(&mut self) -> Result<Option<Float>> {
        let negative = self.is("-");
        let token = self.token_after(usize::from(negative));
        if token.kind != Kind::Number {
            return Ok(None);
        }
        let Number::Float(value) = number(&token)? else {
            return Ok(None);
        };
        self.advance();
        if !negative {
            return Ok(Some(value));
        }
        self.advance();
        Ok(Some(match value {
            Float::Single(bits) => Float::Single(bits ^ 1 << 31),
            Float::Double(bits) => Float::Double(bits ^ 1 << 63),
            Float::Decimal(value) => Float::Decimal(-value),
        }))
    }
}
