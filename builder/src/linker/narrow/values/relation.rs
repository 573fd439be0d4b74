//! What an operand of a comparison has to do with a value, so that the comparison says something of the value.

use super::{SHORT, bits_of};
use crate::llvm::{Value, ValueKind, opcode};

/// How deep an `or` or a maximum is taken apart.
const PARTS: u32 = 8;

/// What an operand of a comparison has to do with a value.
pub(super) enum Relation {
    Same,
    /// An `or` of the value and others, or the maximum of them.
    Part,
    /// The value of 64 bits and a small constant.
    Sum(i128),
    /// A number of 64 bits of which the value is the sum with a small constant.
    Before(i128),
}

impl Relation {
    pub(super) fn between<'c>(operand: Value<'c>, value: Value<'c>) -> Option<Relation> {
        if operand == value {
            return Some(Relation::Same);
        }
        let added = |sum: Value<'c>| {
            let is_sum = sum.kind() == ValueKind::Instruction
                && sum.opcode() == opcode::ADD
                && bits_of(sum) == Some(64);
            let constant = is_sum.then(|| sum.operand(1)).flatten()?.as_integer()? as i64;
            let is_small = constant.unsigned_abs() < SHORT;
            is_small.then_some((sum.operand(0)?, i128::from(constant)))
        };
        if let Some((_, constant)) = added(value).filter(|(number, _)| *number == operand) {
            return Some(Relation::Before(constant));
        }
        if let Some((_, constant)) = added(operand).filter(|(number, _)| *number == value) {
            return Some(Relation::Sum(constant));
        }
        is_part(operand, value, PARTS).then_some(Relation::Part)
    }
}

/// Whether a number is not less than a value, as an `or` or a maximum of it.
fn is_part<'c>(whole: Value<'c>, value: Value<'c>, depth: u32) -> bool {
    let is_whole = |whole: Value<'c>| match whole.opcode() {
        opcode::OR => true,
        _ => whole.is_call_of(&["llvm.umax."]),
    };
    whole == value
        || depth.checked_sub(1).is_some_and(|depth| {
            whole.kind() == ValueKind::Instruction
                && is_whole(whole)
                && (0..2).any(|n| {
                    let operand = whole.operand(n);
                    operand.is_some_and(|operand| is_part(operand, value, depth))
                })
        })
}
