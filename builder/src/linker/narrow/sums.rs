//! Remainders of sums become the remainder of one of the numbers.
//!
//! ```text
//! (x + 1) % n        as r + 1, or 0 where that is n
//! (x + n - 1) % n    as r - 1, or n - 1 where r is 0, with r = x % n
//! ```
//!
//! So the neighbours of a place on a ring take one division together, and one of 32 bits where the sum may need 33. A sum is taken apart only
//! where bounds prove that it is that of the numbers, without wrapping around. The division stands where all the remainders are
//! reached from; where none of them is executed its divisor may be 0, and is made 1 then.

use super::bounds::{self, MOST_OF_32};
use super::dominators::Dominators;
use super::ring::not_zero;
use crate::llvm::{Block, Place, Value, ValueKind, opcode, predicate};

/// How many sums and conversions are looked through.
const DEPTH: u32 = 6;

/// A remainder of `number + times * divisor + constant`.
struct Remainder<'c> {
    value: Value<'c>,
    number: Value<'c>,
    divisor: Value<'c>,
    times: u32,
    /// -1, 0 or 1.
    constant: i64,
}

impl Remainder<'_> {
    fn is_of_sum(&self) -> bool {
        self.times > 0 || self.constant != 0
    }

    fn is_with(&self, other: &Remainder<'_>) -> bool {
        self.number == other.number && self.divisor == other.divisor
    }
}

/// Replaces the remainders of a function that are worth it; whether there were any.
pub(super) fn run(dominators: &Dominators<'_>) -> bool {
    let mut is_changed = false;
    // One group after the other: what is a number of one may be a remainder of another.
    while let Some((group, division)) = next(dominators) {
        replace(&group, &division);
        is_changed = true;
    }
    is_changed
}

/// Where the division of a group stands, and how wide it is.
struct Division<'c> {
    place: Place<'c>,
    bits: u32,
}

/// Remainders of one number by one divisor.
fn next<'c>(dominators: &Dominators<'c>) -> Option<(Vec<Remainder<'c>>, Division<'c>)> {
    let all = dominators.instructions().into_iter();
    let mut rest: Vec<_> = all
        .filter(|i| i.opcode() == opcode::UREM)
        .filter_map(|value| Remainder::of(value, dominators))
        .collect();
    while let Some(first) = rest.pop() {
        let (mut group, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|one| one.is_with(&first));
        group.push(first);
        rest = others;
        // Of a single one the bits of the sum alone may be what is saved.
        let is_worth_it = match &group[..] {
            [single] => single.is_wide_sum_of_narrow(dominators),
            several => several.iter().any(Remainder::is_of_sum),
        };
        if is_worth_it && let Some(division) = Division::of(&group, dominators) {
            return Some((group, division));
        }
    }
    None
}

impl<'c> Remainder<'c> {
    fn of(value: Value<'c>, dominators: &Dominators<'c>) -> Option<Remainder<'c>> {
        let bits = value
            .integer_bits()
            .filter(|bits| matches!(bits, 32 | 64))?;
        let block = value.block();
        let divisor = core(value.operand(1)?, block, dominators);
        if divisor.as_integer().is_some() {
            return None;
        }
        let parts = Parts {
            divisor,
            block,
            dominators,
        };
        let sum = parts.of(value.operand(0)?, DEPTH)?;
        let number = sum.number.filter(|_| parts.fits(&sum, bits))?;
        matches!(sum.constant, -1..=1).then_some(Remainder {
            value,
            number,
            divisor,
            times: sum.times,
            constant: sum.constant,
        })
    }

    fn is_wide_sum_of_narrow(&self, dominators: &Dominators<'c>) -> bool {
        let block = self.value.block();
        let is_narrow = |value| {
            let most = bounds::most_at(value, block, dominators);
            most.is_some_and(|most| most <= MOST_OF_32)
        };
        self.is_of_sum()
            && self.value.integer_bits() == Some(64)
            && is_narrow(self.number)
            && is_narrow(self.divisor)
    }
}

/// `number + times * divisor + constant`, of whole numbers.
struct Sum<'c> {
    number: Option<Value<'c>>,
    times: u32,
    constant: i64,
}

/// Takes dividends apart.
struct Parts<'d, 'c> {
    divisor: Value<'c>,
    block: Block<'c>,
    dominators: &'d Dominators<'c>,
}

impl<'c> Parts<'_, 'c> {
    /// The parts of a value, which is their sum but for multiples of two to the power of its width.
    fn of(&self, value: Value<'c>, depth: u32) -> Option<Sum<'c>> {
        let bits = value.integer_bits()?;
        let of_divisor = |times, constant| Sum {
            number: None,
            times,
            constant,
        };
        if let Some(number) = value.as_integer() {
            let constant = (number << (64 - bits)) as i64 >> (64 - bits);
            return Some(of_divisor(0, constant));
        }
        if core(value, self.block, self.dominators) == self.divisor {
            return Some(of_divisor(1, 0));
        }
        // Whatever cannot be taken apart is a number itself.
        let parts = depth
            .checked_sub(1)
            .and_then(|depth| self.of_operation(value, depth));
        Some(parts.unwrap_or(Sum {
            number: Some(value),
            times: 0,
            constant: 0,
        }))
    }

    fn of_operation(&self, value: Value<'c>, depth: u32) -> Option<Sum<'c>> {
        if value.kind() != ValueKind::Instruction {
            return None;
        }
        match value.opcode() {
            opcode::ADD => {
                let (left, right) = (value.operand(0)?, value.operand(1)?);
                let (left, right) = (self.of(left, depth)?, self.of(right, depth)?);
                let number = match (left.number, right.number) {
                    (number, None) | (None, number) => number,
                    _ => return None,
                };
                Some(Sum {
                    number,
                    times: left.times + right.times,
                    constant: left.constant.checked_add(right.constant)?,
                })
            }
            opcode::TRUNC => self.of(value.operand(0)?, depth),
            // What the narrower number has lost stays lost.
            opcode::ZEXT => {
                let narrow = value.operand(0)?;
                let sum = self.of(narrow, depth)?;
                self.fits(&sum, narrow.integer_bits()?).then_some(sum)
            }
            _ => None,
        }
    }

    /// Whether a sum is a number of this width, where the divisor is not zero.
    fn fits(&self, sum: &Sum<'c>, bits: u32) -> bool {
        let most = |value| bounds::most_at(value, self.block, self.dominators);
        let number = sum.number.map_or(Some(0), most);
        let (Some(number), Some(divisor)) = (number, most(self.divisor)) else {
            return false;
        };
        let multiple = u128::from(divisor) * u128::from(sum.times);
        let highest = i128::try_from(u128::from(number) + multiple);
        let highest = highest.map(|highest| highest + i128::from(sum.constant));
        let lowest = i128::from(sum.times) + i128::from(sum.constant);
        lowest >= 0 && highest.is_ok_and(|highest| highest < 1 << bits)
    }
}

/// The value that this one is in another width.
fn core<'c>(mut value: Value<'c>, block: Block<'c>, dominators: &Dominators<'c>) -> Value<'c> {
    for _ in 0..DEPTH {
        if value.kind() != ValueKind::Instruction {
            break;
        }
        let (Some(operand), Some(bits)) = (value.operand(0), value.integer_bits()) else {
            break;
        };
        let is_same = match value.opcode() {
            opcode::ZEXT => true,
            opcode::TRUNC => {
                let most = bounds::most_at(operand, block, dominators);
                most.is_some_and(|most| most <= u64::MAX >> (64 - bits))
            }
            _ => false,
        };
        if !is_same {
            break;
        }
        value = operand;
    }
    value
}

impl<'c> Division<'c> {
    fn of(group: &[Remainder<'c>], dominators: &Dominators<'c>) -> Option<Division<'c>> {
        let first = group.first()?;
        let block = dominators.common(group.iter().map(|one| one.value.block()))?;
        // What all of them are computed from is known before the first one, and at the end of a block before all.
        let is_one = |i: &Value<'c>| group.iter().any(|one| one.value == *i);
        let here = block.instructions().into_iter().find(is_one);
        let place = Place::before(here.or_else(|| block.terminator())?);
        let is_narrow = [first.number, first.divisor].into_iter().all(|value| {
            let most = bounds::most_at(value, block, dominators);
            most.is_some_and(|most| most <= MOST_OF_32)
        });
        let bits = if is_narrow { 32 } else { 64 };
        // Not a wide one for narrow ones, whose numbers are small only where they are.
        let is_as_wide = |one: &Remainder<'c>| one.value.integer_bits() >= Some(bits);
        group
            .iter()
            .any(is_as_wide)
            .then_some(Division { place, bits })
    }
}

/// Puts one division in the place of a group.
fn replace<'c>(group: &[Remainder<'c>], division: &Division<'c>) {
    let Some(first) = group.first() else {
        return;
    };
    let &Division { place, bits } = division;
    let divisor = not_zero(place, place.resized(first.divisor, bits));
    let remainder = place.binary(opcode::UREM, place.resized(first.number, bits), divisor);
    let (zero, one) = (place.constant(bits, 0), place.constant(bits, 1));
    let after = {
        let sum = place.binary(opcode::ADD, remainder, one);
        let is_end = place.comparison(predicate::EQUAL, sum, divisor);
        place.select(is_end, zero, sum)
    };
    let before = {
        let last = place.binary(opcode::SUB, divisor, one);
        let is_start = place.comparison(predicate::EQUAL, remainder, zero);
        let difference = place.binary(opcode::SUB, remainder, one);
        place.select(is_start, last, difference)
    };
    for Remainder {
        value, constant, ..
    } in group
    {
        let new = match constant {
            0 => remainder,
            1 => after,
            _ => before,
        };
        let wide = value.integer_bits().unwrap_or(bits);
        value.replace_by(Place::before(*value).resized(new, wide));
    }
}
