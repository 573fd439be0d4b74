//! A counter that begins anew at a divisor: the remainder of a number that a loop steps.

use std::collections::HashMap;

use super::bounds::{self, MOST_OF_32};
use super::dominators::Dominators;
use crate::llvm::{Block, Place, Value, opcode, predicate};

/// The divisors of which [`not_zero()`] made others for the first values of counters, by those: where one is zero, any first value is right.
pub(super) type Made<'c> = HashMap<Value<'c>, Value<'c>>;

/// A counter below a divisor.
pub(super) struct Ring<'c> {
    pub phi: Value<'c>,
    divisor: Value<'c>,
    bits: u32,
}

impl<'c> Ring<'c> {
    /// A counter in the block of the phi `of`, without incoming values.
    pub(super) fn new(
        of: Value<'c>,
        divisor: Value<'c>,
        dominators: &Dominators<'c>,
    ) -> Option<Ring<'c>> {
        let wide = of.integer_bits()?;
        let most = bounds::most_at(divisor, of.block(), dominators)?;
        // A constant is added to, which must not wrap around; a sum of a variable divisor and one never does.
        let is_narrow = match divisor.as_integer() {
            Some(number) => number <= 1 << 31,
            None => most <= MOST_OF_32,
        };
        let bits = if is_narrow { 32 } else { wide };
        let like = Place::before(of).constant(bits, 0);
        Some(Ring {
            phi: of.build_phi_before(like),
            divisor,
            bits,
        })
    }

    /// The first value, if the loop is entered from this block.
    pub(super) fn begin(&self, start: Value<'c>, block: Block<'c>, made: &mut Made<'c>) {
        let Some(end) = block.terminator() else {
            return;
        };
        let place = Place::before(end);
        let first = match (start.as_integer(), self.divisor.as_integer()) {
            (Some(0), _) => place.constant(self.bits, 0),
            (Some(start), Some(divisor)) => place.constant(self.bits, start % divisor),
            _ => {
                let divisor = not_zero(place, self.divisor);
                made.insert(divisor, self.divisor);
                let remainder = place.binary(opcode::UREM, start, divisor);
                place.resized(remainder, self.bits)
            }
        };
        self.phi.add_incoming(first, block);
    }

    /// The remainder of what is `added` further, in the block of the phi.
    pub(super) fn plus(&self, added: u64) -> Value<'c> {
        let constant = self.divisor.as_integer();
        let added = constant.map_or(added, |divisor| added % divisor);
        let first = self.phi.block().instructions().into_iter();
        let mut others = first.filter(|i| i.opcode() != opcode::PHI);
        let (1.., Some(anchor)) = (added, others.next()) else {
            return self.phi;
        };
        let place = Place::before(anchor);
        let number = |number| place.constant(self.bits, number);
        let add = |value, added| place.binary(opcode::ADD, value, number(added));
        let divisor = match constant {
            Some(divisor) => number(divisor),
            None => place.resized(self.divisor, self.bits),
        };
        if let (Some(_), 2..) = (constant, added) {
            let sum = add(self.phi, added);
            let is_past = place.comparison(predicate::GREATER_OR_EQUAL, sum, divisor);
            return place.select(is_past, place.binary(opcode::SUB, sum, divisor), sum);
        }
        (0..added).fold(self.phi, |before, _| {
            let sum = add(before, 1);
            let is_end = place.comparison(predicate::EQUAL, sum, divisor);
            place.select(is_end, number(0), sum)
        })
    }

    pub(super) fn replace(&self, remainder: Value<'c>, by: Value<'c>) {
        let place = Place::before(remainder);
        let wide = remainder.integer_bits().unwrap_or(self.bits);
        remainder.replace_by(place.resized(by, wide));
    }
}

/// A divisor, or 1 if it is 0.
pub(super) fn not_zero<'c>(place: Place<'c>, divisor: Value<'c>) -> Value<'c> {
    if divisor.as_integer().is_some_and(|number| number != 0) {
        return divisor;
    }
    let divisor = place.freeze(divisor);
    let zero = Value::integer_like(0, divisor);
    let is_zero = place.comparison(predicate::EQUAL, divisor, zero);
    place.select(is_zero, Value::integer_like(1, divisor), divisor)
}
