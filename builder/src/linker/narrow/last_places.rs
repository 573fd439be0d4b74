//! Whether a place is the last one, by 32 bits: `place == n - 1` is `place + 1 == n`.
//!
//! `n - 1` has 64 bits where `n` may be 0, and no place is that number then. Nor is the place behind one 0, if that of 32 bits does not wrap around:
//! if the place is below 2^32 - 1.

use super::bounds::MOST_OF_32;
use super::dominators::Dominators;
use super::ranges::Range;
use super::replace::replace_found;
use super::unequal::is_one_before;
use super::values::Values;
use crate::llvm::{Place, Value, opcode, predicate};

/// Whether an instruction compares 64 bits with what may be the last place of something.
pub(super) fn may_be_last(instruction: Value<'_>) -> bool {
    sides(instruction).is_some()
}

/// Compares by 32 bits where that is the same; whether there was anything.
pub(super) fn run<'c>(dominators: &Dominators<'c>) -> bool {
    let values = Values::of(dominators);
    let found = |comparison: Value<'c>| Last::of(comparison, &values);
    replace_found(dominators, found, Last::compared)
}

/// A comparison of a place with the number before a length.
struct Last<'c> {
    place: Value<'c>,
    length: Value<'c>,
    predicate: i32,
}

/// The place and the length that are compared.
fn sides(comparison: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let is_equality = comparison.opcode() == opcode::ICMP
        && [predicate::EQUAL, predicate::NOT_EQUAL].contains(&comparison.predicate());
    if !is_equality {
        return None;
    }
    let (left, right) = (comparison.operand(0)?, comparison.operand(1)?);
    if left.is_pointer() || left.integer_bits() != Some(64) {
        return None;
    }
    let is_last = |place, last| Some((place, is_one_before(last)?));
    is_last(left, right).or_else(|| is_last(right, left))
}

impl<'c> Last<'c> {
    fn of(comparison: Value<'c>, values: &Values<'_, 'c>) -> Option<Last<'c>> {
        let (place, length) = sides(comparison)?;
        let is_in = |value, high: u64| {
            let range = values.at(value, comparison.block());
            range.is_some_and(|range| range.is_in(Range::new(0, high.into())))
        };
        let is_short = is_in(place, MOST_OF_32 - 1) && is_in(length, MOST_OF_32);
        is_short.then(|| Last {
            place,
            length,
            predicate: comparison.predicate(),
        })
    }

    fn compared(&self, at: Place<'c>) -> Value<'c> {
        let behind = at.binary(opcode::ADD, at.resized(self.place, 32), at.constant(32, 1));
        at.comparison(self.predicate, behind, at.resized(self.length, 32))
    }
}
