//! Whether a number is inside a range is one comparison: `start <= x && x - start < length` is `x - start < length`.
//!
//! Below the start the difference wraps around, and is greater than any length unless both are great. LLVM knows that of constants. A length is one of run time
//! here, and at most half of what its type holds, as slices are.

use super::dominators::Dominators;
use super::orders::below;
use super::replace::replace_found;
use super::values::Values;
use crate::llvm::{Attribute, Place, Value, ValueKind, opcode, predicate};

/// Whether an instruction is the choice that `&&` becomes.
pub(super) fn is_both(instruction: Value<'_>) -> bool {
    let is_no = |value: Value<'_>| value.integer_bits() == Some(1) && value.is_zero();
    instruction.opcode() == opcode::SELECT && instruction.operand(2).is_some_and(is_no)
}

/// Replaces such pairs; whether there were any.
pub(super) fn run(dominators: &Dominators<'_>) -> bool {
    let values = Values::of(dominators);
    replace_found(
        dominators,
        |both| is_both(both).then(|| Inside::of(both, &values))?,
        Inside::compared,
    )
}

/// A number that is at least `start`, and less than `start + length`, or not more.
struct Inside<'c> {
    number: Value<'c>,
    start: Value<'c>,
    length: Value<'c>,
    is_strict: bool,
}

impl<'c> Inside<'c> {
    fn of(both: Value<'c>, values: &Values<'_, 'c>) -> Option<Inside<'c>> {
        let conditions = (both.operand(0)?, both.operand(1)?);
        let is_comparison = |value: Value<'c>| {
            value.kind() == ValueKind::Instruction && value.opcode() == opcode::ICMP
        };
        if !is_comparison(conditions.0) || !is_comparison(conditions.1) {
            return None;
        }
        let (start, number, is_beyond) = below(conditions.0)?;
        let (difference, length, is_strict) = below(conditions.1)?;
        let bits = length.integer_bits().filter(|_| !length.is_pointer())?;
        let is_difference = difference.kind() == ValueKind::Instruction
            && difference.opcode() == opcode::SUB
            && difference.operand(0) == Some(number)
            && difference.operand(1) == Some(start);
        if is_beyond || !is_difference || !is_always_defined(length) {
            return None;
        }
        let most = |value| {
            let range = values.at(value, both.block())?;
            range.is_non_negative().then_some(range.high)
        };
        let sum = most(start)? + most(length)?;
        (sum < 1 << bits).then_some(Inside {
            number,
            start,
            length,
            is_strict,
        })
    }

    fn compared(&self, place: Place<'c>) -> Value<'c> {
        // Below the start it does wrap around.
        let difference = place.binary(opcode::SUB, self.number, self.start);
        let predicate = match self.is_strict {
            true => predicate::LESS,
            false => predicate::LESS_OR_EQUAL,
        };
        place.comparison(predicate, difference, self.length)
    }
}

/// Whether a value is never poison, also where it was not asked for before.
pub(super) fn is_always_defined(value: Value<'_>) -> bool {
    if value.as_integer().is_some() {
        return true;
    }
    if value.kind() == ValueKind::Instruction {
        let may_be_poison = value.opcode() == opcode::ZEXT && value.is_of_non_negative();
        return !may_be_poison && value.extended().is_some_and(is_always_defined);
    }
    value.as_parameter().is_some_and(|(function, number)| {
        function.has_flag(Attribute::Parameter(number), "noundef")
    })
}
