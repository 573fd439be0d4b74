//! What is left of a number by a division with a multiplication behind it.

use crate::linker::narrow::ranges::Range;
use crate::llvm::{Value, ValueKind, opcode};

/// `x / y * y` or `x - x / y * y`.
pub(super) struct Divided<'c> {
    pub dividend: Value<'c>,
    pub divisor: Value<'c>,
    is_remainder: bool,
    /// Whether it is their lower 32 bits that are divided.
    is_short: bool,
}

impl<'c> Divided<'c> {
    pub(super) fn of(value: Value<'c>) -> Option<Divided<'c>> {
        let product = match value.opcode() {
            opcode::SUB => value.operand(1)?,
            _ => value,
        };
        if product.kind() != ValueKind::Instruction || product.opcode() != opcode::MUL {
            return None;
        }
        let (one, other) = (product.operand(0)?, product.operand(1)?);
        let (dividend, divisor, is_short) =
            quotient_by(one, other).or_else(|| quotient_by(other, one))?;
        let is_remainder = product != value;
        (!is_remainder || value.operand(0) == Some(dividend)).then_some(Divided {
            dividend,
            divisor,
            is_remainder,
            is_short,
        })
    }

    /// Where the divisor is not zero.
    pub(super) fn range(&self, dividend: Range, divisor: Range) -> Option<Range> {
        if self.is_short && !(dividend.is_unsigned_32() && divisor.is_unsigned_32()) {
            return None;
        }
        match self.is_remainder {
            true => dividend.combined(opcode::UREM, divisor),
            false => dividend
                .is_non_negative()
                .then(|| Range::new(0, dividend.high)),
        }
    }
}

/// What is divided where a value is the quotient by a divisor, and whether only the lower 32 bits of both are.
fn quotient_by<'c>(
    quotient: Value<'c>,
    divisor: Value<'c>,
) -> Option<(Value<'c>, Value<'c>, bool)> {
    if quotient.kind() != ValueKind::Instruction {
        return None;
    }
    if quotient.opcode() == opcode::UDIV {
        let is_same = quotient.operand(1) == Some(divisor);
        return is_same.then(|| Some((quotient.operand(0)?, divisor, false)))?;
    }
    let short = match quotient.opcode() {
        opcode::ZEXT => quotient.operand(0)?,
        _ => return None,
    };
    let is_quotient = short.kind() == ValueKind::Instruction
        && short.opcode() == opcode::UDIV
        && short.integer_bits() == Some(32)
        && lower_half(short.operand(1)?) == Some(divisor);
    is_quotient.then(|| Some((lower_half(short.operand(0)?)?, divisor, true)))?
}

/// The number of which a value is the lower half.
fn lower_half(value: Value<'_>) -> Option<Value<'_>> {
    let is_half = value.kind() == ValueKind::Instruction && value.opcode() == opcode::TRUNC;
    let whole = is_half.then(|| value.operand(0)).flatten();
    whole.filter(|whole| whole.integer_bits() == Some(64))
}
