//! What a number is made of, none of which is greater than it.

use super::conditions::Known;
use crate::llvm::{Value, ValueKind, opcode};

/// How many operations are looked through.
const DEPTH: u32 = 4;

/// Whether `part` is not greater than `whole`, as `whole` is a sum or a product of it, or of what is greater.
pub(super) fn is_part<'c>(part: Value<'c>, whole: Value<'c>, known: &Known<'_, 'c>) -> bool {
    is_part_of(part, whole, known, DEPTH)
}

fn is_part_of<'c>(part: Value<'c>, whole: Value<'c>, known: &Known<'_, 'c>, depth: u32) -> bool {
    let (part, whole) = (known.core(part), known.core(whole));
    if part == whole {
        return true;
    }
    let is_constant = part.as_integer().is_some();
    if is_constant && part.as_integer() <= Some(known.ends(whole).0) {
        return true;
    }
    let Some(depth) = depth.checked_sub(1).filter(|_| is_exact(whole, known)) else {
        return false;
    };
    let Some((a, b)) = whole.operand(0).zip(whole.operand(1)) else {
        return false;
    };
    let is_in = |part, whole| is_part_of(part, whole, known, depth);
    match whole.opcode() {
        opcode::ADD => is_in(part, a) || is_in(part, b) || is_smaller_sum(part, (a, b), &is_in),
        _ => {
            let is_any = |factor| known.ends(known.core(factor)).0 > 0;
            is_any(b) && is_in(part, a) || is_any(a) && is_in(part, b)
        }
    }
}

/// Whether each number of a sum is part of one of another sum's. One that wraps around is smaller still.
fn is_smaller_sum<'c>(
    sum: Value<'c>,
    (a, b): (Value<'c>, Value<'c>),
    is_in: &dyn Fn(Value<'c>, Value<'c>) -> bool,
) -> bool {
    let is_sum = sum.kind() == ValueKind::Instruction && sum.opcode() == opcode::ADD;
    let parts = is_sum.then(|| sum.operand(0).zip(sum.operand(1))).flatten();
    parts.is_some_and(|(c, d)| is_in(c, a) && is_in(d, b) || is_in(c, b) && is_in(d, a))
}

/// Whether a value is a sum or a product that does not wrap around.
fn is_exact<'c>(value: Value<'c>, known: &Known<'_, 'c>) -> bool {
    let is_either = value.kind() == ValueKind::Instruction
        && [opcode::ADD, opcode::MUL].contains(&value.opcode());
    let operands = || {
        value
            .operand(0)
            .zip(value.operand(1))
            .zip(value.integer_bits())
    };
    let ((a, b), bits) = match is_either.then(operands).flatten() {
        Some(operands) => operands,
        None => return false,
    };
    let most = |value| u128::from(known.ends(value).1.min(known.ends(known.core(value)).1));
    let highest = match value.opcode() {
        opcode::ADD => most(a) + most(b),
        _ => most(a) * most(b),
    };
    value.never_wraps() || highest < 1 << bits
}

/// Whether `smaller` is not greater than what is known to be below `larger`, or not above it.
pub(super) fn is_below_known<'c>(
    smaller: Value<'c>,
    larger: Value<'c>,
    is_strict: bool,
    known: &Known<'_, 'c>,
) -> bool {
    let mut below = known.below(larger);
    below.any(|(value, is_below)| (is_below || !is_strict) && is_part(smaller, value, known))
}
