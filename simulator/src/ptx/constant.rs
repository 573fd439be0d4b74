//! Constant expressions.

use super::error::{Error, Result};
use super::lexer::TokenKind;
use super::number::{Number, number};
use super::parser::Parser;

impl<'a> Parser<'a> {
    /// A constant expression of integers.
    pub fn constant_int(&mut self) -> Result<i128> {
        let condition = self.binary(0)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let yes = self.constant_int()?;
        self.expect(":")?;
        let no = self.constant_int()?;
        Ok(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, least: u8) -> Result<i128> {
        let mut left = self.unary()?;
        loop {
            let operator = self.token();
            let level = match (operator.kind, operator.text) {
                (TokenKind::Punctuation, "||") => 1,
                (TokenKind::Punctuation, "&&") => 2,
                (TokenKind::Punctuation, "|") => 3,
                (TokenKind::Punctuation, "^") => 4,
                (TokenKind::Punctuation, "&") => 5,
                (TokenKind::Punctuation, "==" | "!=") => 6,
                (TokenKind::Punctuation, "<" | ">" | "<=" | ">=") => 7,
                (TokenKind::Punctuation, "<<" | ">>") => 8,
                (TokenKind::Punctuation, "+" | "-") => 9,
                (TokenKind::Punctuation, "*" | "/" | "%") => 10,
                _ => return Ok(left),
            };
            if level <= least {
                return Ok(left);
            }
            self.advance();
            let right = self.binary(level)?;
            let failed = || {
                let message = match (operator.text, right) {
                    ("/" | "%", 0) => "Constant expression has division by zero".to_owned(),
                    (text, _) => format!("`{text}` of these constants has no value"),
                };
                Error::new(operator.at, message)
            };
            left = match operator.text {
                "||" => i128::from(left != 0 || right != 0),
                "&&" => i128::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i128::from(left == right),
                "!=" => i128::from(left != right),
                "<" => i128::from(left < right),
                ">" => i128::from(left > right),
                "<=" => i128::from(left <= right),
                ">=" => i128::from(left >= right),
                "<<" => i128::from(
                    (left as u64)
                        .checked_shl(u32::try_from(right).map_err(|_| failed())?)
                        .unwrap_or(0),
                ),
                ">>" => {
                    left >> u32::try_from(right)
                        .ok()
                        .filter(|&r| r < 128)
                        .ok_or_else(failed)?
                }
                "+" => left.checked_add(right).ok_or_else(failed)?,
                "-" => left.checked_sub(right).ok_or_else(failed)?,
                "*" => left.checked_mul(right).ok_or_else(failed)?,
                "/" => left.checked_div(right).ok_or_else(failed)?,
                _ => left.checked_rem(right).ok_or_else(failed)?,
            };
        }
    }

    fn unary(&mut self) -> Result<i128> {
        let token = self.token();
        match (token.kind, token.text) {
            (TokenKind::Punctuation, "-") => {
                self.advance();
                Ok(-self.unary()?)
            }
            (TokenKind::Punctuation, "+") => {
                self.advance();
                self.unary()
            }
            (TokenKind::Punctuation, "~") => {
                self.advance();
                Ok(!self.unary()?)
            }
            (TokenKind::Punctuation, "!") => {
                self.advance();
                Ok(i128::from(self.unary()? == 0))
            }
            (TokenKind::Punctuation, "(") => {
                self.advance();
                let cast = self.token();
                if cast.kind == TokenKind::Dotted && matches!(cast.text, "s64" | "u64") {
                    self.advance();
                    self.expect(")")?;
                    let value = self.unary()?;
                    return Ok(if cast.text == "s64" {
                        i128::from(value as i64)
                    } else {
                        i128::from(value as u64)
                    });
                }
                let depth = self.enter()?;
                let value = self.constant_int()?;
                self.leave(depth);
                self.expect(")")?;
                Ok(value)
            }
            (TokenKind::Number, _) => match number(&token)? {
                Number::Int(value) => {
                    self.advance();
                    Ok(value)
                }
                Number::Float(_) => Err(self.unexpected("an integer")),
            },
            (TokenKind::Name, "WARP_SZ") => {
                self.advance();
                Ok(32)
            }
            _ => Err(self.unexpected("an integer")),
        }
    }
}
