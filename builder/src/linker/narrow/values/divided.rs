//! What is left of a number by a division with a multiplication behind it.

use crate::linker::narrow::ranges::Range;
use crate::llvm::{Value, ValueKind, opcode};

/// `x / y * y` or `x - x / y * y`.
pub(super) struct Divided<'c> {
    pub dividend: Value<'c>,
    pub divisor: Value<'c>,
    is_remainder: bool,
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
        let quotient_by = |quotient: Value<'c>, divisor| {
            let is_quotient = quotient.kind() == ValueKind::Instruction
                && quotient.opcode() == opcode::UDIV
                && quotient.operand(1) == Some(divisor);
            let dividend = is_quotient.then(|| quotient.operand(0)).flatten()?;
            Some((dividend, divisor))
        };
        let (dividend, divisor) = quotient_by(one, other).or_else(|| quotient_by(other, one))?;
        let is_remainder = product != value;
        (!is_remainder || value.operand(0) == Some(dividend)).then_some(Divided {
            dividend,
            divisor,
            is_remainder,
        })
    }

    /// Where the divisor is not zero.
    pub(super) fn range(&self, dividend: Range, divisor: Range) -> Option<Range> {
        match self.is_remainder {
            true => dividend.combined(opcode::UREM, divisor),
            false => dividend
                .is_non_negative()
                .then(|| Range::new(0, dividend.high)),
        }
    }
}
