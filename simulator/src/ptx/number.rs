//! Number tokens.

use super::ast::Float;
use super::error::{Error, Result};
use super::lexer::Token;

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
    let lower = text.strip_suffix('U').unwrap_or(text).to_ascii_lowercase();
    let digits = lower.as_str();
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
