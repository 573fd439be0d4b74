//! Comparisons whose result follows from what was compared before: `(x + 1).min(n - 1) < n` behind `x < n`.
//!
//! LLVM knows that a minimum is at most each of its numbers, but `n - 1` is below `n` only where `n` is not 0, which it asks where the
//! minimum is computed. That is before the comparison, as indices are computed before any of them is used. Here it is asked where the comparison stands.
//! Nor does it know that what is below `n` and not `n - 1` has a number behind it which is below `n`.

use super::conditions::Known;
use super::dominators::Dominators;
use super::orders::below;
use super::parts;
use super::planes;
use super::unequal::{is_behind, is_one_before};
use super::values::{Values, bits_of};
use crate::llvm::{Place, Value, ValueKind, opcode, predicate};

/// How many operations and comparisons are looked through.
const DEPTH: u32 = 6;

/// Whether an instruction is a comparison of unsigned numbers.
pub(super) fn is_comparison(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::ICMP
        && below(instruction).is_some()
        && instruction.operand(0).and_then(bits_of).is_some()
}

/// Replaces the comparisons that are decided; whether there were any.
pub(super) fn run(dominators: &Dominators<'_>) -> bool {
    let values = Values::of(dominators);
    let mut is_changed = false;
    let mut comparisons = dominators.instructions();
    comparisons.retain(|i| is_comparison(*i));
    for comparison in comparisons {
        let known = Known::at(comparison.block(), &values, dominators);
        if let Some(holds) = decided(comparison, &known) {
            let place = Place::before(comparison);
            comparison.replace_by(place.constant(1, holds.into()));
            is_changed = true;
        }
    }
    is_changed
}

/// Whether a comparison holds, if that is known.
pub(super) fn decided<'c>(comparison: Value<'c>, known: &Known<'_, 'c>) -> Option<bool> {
    comparison.operand(0).and_then(bits_of)?;
    if let predicate @ (predicate::EQUAL | predicate::NOT_EQUAL) = comparison.predicate() {
        let is_zero = comparison.operand(1)?.as_integer() == Some(0);
        let left = comparison.operand(0)?;
        let is_positive = is_zero && known.ends(known.core(left)).0 > 0;
        return is_positive.then_some(predicate == predicate::NOT_EQUAL);
    }
    let (smaller, larger, is_strict) = below(comparison)?;
    if is_below(smaller, larger, is_strict, known, DEPTH) {
        Some(true)
    } else if is_below(larger, smaller, !is_strict, known, DEPTH) {
        Some(false)
    } else {
        None
    }
}

/// Whether `smaller < larger`, or `<=` unless strict.
pub(super) fn is_below<'c>(
    smaller: Value<'c>,
    larger: Value<'c>,
    is_strict: bool,
    known: &Known<'_, 'c>,
    depth: u32,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let (smaller, larger) = (known.core(smaller), known.core(larger));
    if smaller == larger {
        return !is_strict;
    }
    let (least, most) = (known.ends(larger).0, known.ends(smaller).1);
    if most < least || (most == least && !is_strict) {
        return true;
    }
    let follows = |value, is_strict| is_below(value, larger, is_strict, known, depth);
    let mut above = known.above(smaller);
    if above.any(|(value, is_below)| follows(value, is_strict && !is_below)) {
        return true;
    }
    if parts::is_below_known(smaller, larger, is_strict, known) {
        return true;
    }
    let is_below = |smaller, larger, is_strict| is_below(smaller, larger, is_strict, known, depth);
    if is_strict && known.differ(smaller, larger) && is_below(smaller, larger, false) {
        return true;
    }
    // Whether the number behind `before` is below `larger`, or not above it: then none of the two wraps around, as `before` is below `larger`.
    let is_next_below = |before, larger| {
        let is_no_end = !is_strict || known.next_differs(before, larger);
        is_no_end && is_below(before, larger, true)
    };
    let behind = is_one_before(larger).map(|behind| known.core(behind));
    if behind.is_some_and(|behind| is_next_below(smaller, behind)) {
        return true;
    }
    let before = is_behind(smaller).map(|before| known.core(before));
    if before.is_some_and(|before| is_next_below(before, larger)) {
        return true;
    }
    if smaller.kind() != ValueKind::Instruction {
        return false;
    }
    let is_strictly_below = |smaller, larger| is_below(smaller, larger, true);
    if planes::is_place_below(smaller, larger, known, &is_strictly_below) {
        return true;
    }
    let operand = |n| smaller.operand(n);
    let of_operand = |n, is_strict| operand(n).is_some_and(|value| follows(value, is_strict));
    match smaller.opcode() {
        // Below its operand, unless it wraps around.
        opcode::ADD if is_difference(smaller, known) => of_operand(0, false),
        opcode::SUB if smaller.never_wraps() || takes_less(smaller, known, depth) => {
            of_operand(0, is_strict)
        }
        opcode::UDIV | opcode::LSHR | opcode::UREM => of_operand(0, is_strict),
        opcode::AND => of_operand(0, is_strict) || of_operand(1, is_strict),
        opcode::SELECT => of_operand(1, is_strict) && of_operand(2, is_strict),
        opcode::CALL if smaller.is_call_of(&["llvm.umin."]) => {
            of_operand(0, is_strict) || of_operand(1, is_strict)
        }
        opcode::CALL if smaller.is_call_of(&["llvm.umax."]) => {
            of_operand(0, is_strict) && of_operand(1, is_strict)
        }
        opcode::CALL => smaller.is_call_of(&["llvm.usub.sat."]) && of_operand(0, is_strict),
        _ => false,
    }
}

/// Whether what a difference takes away is not more than what it is taken from.
fn takes_less<'c>(difference: Value<'c>, known: &Known<'_, 'c>, depth: u32) -> bool {
    let operands = difference.operand(1).zip(difference.operand(0));
    operands.is_some_and(|(taken, from)| is_below(taken, from, false, known, depth))
}

/// Whether a sum with a constant is the difference of a number and a constant that is not greater.
fn is_difference<'c>(sum: Value<'c>, known: &Known<'_, 'c>) -> bool {
    let parts = || {
        Some((
            sum.operand(0)?,
            sum.operand(1)?.as_integer()?,
            sum.integer_bits()?,
        ))
    };
    parts().is_some_and(|(number, added, bits)| {
        let sign = 1 << (bits - 1);
        let subtracted = (added & sign != 0).then(|| (sign - 1 - (added - sign)) + 1);
        let is_enough = |number, subtracted| subtracted <= known.ends(number).0;
        subtracted.is_some_and(|subtracted| {
            is_enough(number, subtracted) || is_enough(known.core(number), subtracted)
        })
    })
}
