//! What is not 0 where a number is not.

use crate::llvm::{Value, ValueKind, opcode};

/// How many values are looked at.
const MOST: usize = 4;

/// A number that is not 0, and what is not 0 then either: all factors of a product, whether or not it wraps around.
pub(super) fn of_not_zero(value: Value<'_>) -> Vec<Value<'_>> {
    let mut all = vec![value];
    let mut next = 0;
    while let Some(&value) = all.get(next).filter(|_| next < MOST) {
        next += 1;
        let operands: &[u32] = match value.kind() {
            ValueKind::Instruction => match value.opcode() {
                opcode::MUL | opcode::AND => &[0, 1],
                opcode::TRUNC | opcode::ZEXT | opcode::SEXT => &[0],
                opcode::SHL | opcode::LSHR | opcode::UDIV => &[0],
                _ => &[],
            },
            _ => &[],
        };
        let parts = operands.iter().filter_map(|n| value.operand(*n));
        all.extend(parts.filter(|part| part.as_integer().is_none()));
    }
    all
}
