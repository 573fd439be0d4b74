//! Constants and constant expressions.

use super::ast::Float;
use super::lexer::{Kind, Token};
use super::parser::Parser;
use super::{Error, Result};

/// A parsed number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A floating-point constant.
    Float(Float),
}

/// Reads one number token.
pub fn number(token: &Token) -> Result<Number> {
    let text = token.text;
    let bad = || Error::new(token.at, format!("`{text}` is not a number"));
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches('u');
    let int = |digits: &str, radix| {
        u64::from_str_radix(digits, radix)
            .map(|v| Number::Int(i128::from(v)))
            .map_err(|_| bad())
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        return int(hex, 16);
    }
    if let Some(hex) = lower.strip_prefix("0f") {
        let bits = u32::from_str_radix(hex, 16).map_err(|_| bad())?;
        return if hex.len() == 8 {
            Ok(Number::Float(Float::Single(bits)))
        } else {
            Err(bad())
        };
    }
    if let Some(hex) = lower.strip_prefix("0d") {
        let bits = u64::from_str_radix(hex, 16).map_err(|_| bad())?;
        return if hex.len() == 16 {
            Ok(Number::Float(Float::Double(bits)))
        } else {
            Err(bad())
        };
    }
    if let Some(binary) = digits.strip_prefix("0b") {
        return int(binary, 2);
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        let octal = digits.len() > 1 && digits.starts_with('0');
        return int(digits, if octal { 8 } else { 10 });
    }
    lower
        .parse()
        .map(|v| Number::Float(Float::Decimal(v)))
        .map_err(|_| bad())
}

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
                (Kind::Punctuation, "||") => 1,
                (Kind::Punctuation, "&&") => 2,
                (Kind::Punctuation, "|") => 3,
                (Kind::Punctuation, "^") => 4,
                (Kind::Punctuation, "&") => 5,
                (Kind::Punctuation, "==" | "!=") => 6,
                (Kind::Punctuation, "<" | ">" | "<=" | ">=") => 7,
                (Kind::Punctuation, "<<" | ">>") => 8,
                (Kind::Punctuation, "+" | "-") => 9,
                (Kind::Punctuation, "*" | "/" | "%") => 10,
                _ => return Ok(left),
            };
            if level <= least {
                return Ok(left);
            }
            self.advance();
            let right = self.binary(level)?;
            let failed = || {
                Error::new(
                    operator.at,
                    format!("`{}` of these constants has no value", operator.text),
                )
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
            (Kind::Punctuation, "-") => {
                self.advance();
                Ok(-self.unary()?)
            }
            (Kind::Punctuation, "+") => {
                self.advance();
                self.unary()
            }
            (Kind::Punctuation, "~") => {
                self.advance();
                Ok(!self.unary()?)
            }
            (Kind::Punctuation, "!") => {
                self.advance();
                Ok(i128::from(self.unary()? == 0))
            }
            (Kind::Punctuation, "(") => {
                self.advance();
                let cast = self.token();
                if cast.kind == Kind::Dotted && matches!(cast.text, "s64" | "u64") {
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
            (Kind::Number, _) => match number(&token)? {
                Number::Int(value) => {
                    self.advance();
                    Ok(value)
                }
                Number::Float(_) => Err(self.unexpected("an integer")),
            },
            (Kind::Name, "WARP_SZ") => {
                self.advance();
                Ok(32)
            }
            _ => Err(self.unexpected("an integer")),
        }
    }
}
