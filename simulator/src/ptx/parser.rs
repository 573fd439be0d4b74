//! The parser's core: a position in the tokens, and what all levels read.

use super::ast::{Float, Position};
use super::error::{Error, Result};
use super::lexer::{Token, TokenKind, tokens};
use super::number::{Number, number};

/// Nesting deeper than this is refused, so that no input can exhaust the stack.
const MAX_DEPTH: u32 = 200;

/// The parser's state.
pub struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    /// A parser at the start of a text.
    pub fn new(text: &'a str) -> Result<Self> {
        Ok(Self {
            tokens: tokens(text)?,
            next: 0,
            depth: 0,
        })
    }

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
        if token.kind != TokenKind::End {
            self.next += 1;
        }
        token
    }

    /// The error that something else was expected here, in ptxas's words.
    pub fn unexpected(&self, expected: &str) -> Error {
        self.unexpected_at(self.token(), expected)
    }

    /// The error that something else was expected in place of a token that has been taken.
    pub fn unexpected_at(&self, token: Token<'a>, expected: &str) -> Error {
        let message = format!(
            "Parsing error near {}: syntax error: expected {expected}",
            token.describe()
        );
        Error::new(token.at, message)
    }

    /// Whether the next token is this punctuation.
    pub fn is(&self, text: &str) -> bool {
        self.token().kind == TokenKind::Punctuation && self.token().text == text
    }

    /// Whether the next token is this directive or modifier.
    pub fn is_dotted(&self, text: &str) -> bool {
        self.token().kind == TokenKind::Dotted && self.token().text == text
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
        if token.kind != TokenKind::Name {
            return Err(self.unexpected(what));
        }
        self.advance();
        Ok((token.text, token.at))
    }

    /// Takes a directive's plain non-negative integer.
    pub fn integer(&mut self, what: &str) -> Result<u32> {
        let token = self.token();
        if token.kind == TokenKind::Number
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

    /// A floating-point constant, perhaps negated, if one is next.
    pub fn float(&mut self) -> Result<Option<Float>> {
        let negative = self.is("-");
        let token = self.token_after(usize::from(negative));
        if token.kind != TokenKind::Number {
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
