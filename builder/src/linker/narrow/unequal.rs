//! That two numbers are not the same, so that what is not above the other is below it.
//!
//! `x != n - 1` says of all numbers that the one behind `x` is not `n`: where `n` is 0, `n - 1` wraps around, and nothing has 0 behind it.

use crate::llvm::{Value, ValueKind, opcode};

/// That a number, or the one behind it, is not another one. All are without extensions, so that the same number is the same value.
#[derive(Clone)]
pub(super) struct Unequal<'c> {
    one: Value<'c>,
    other: Value<'c>,
    /// Whether it is said of the number behind `one`, as one that does not wrap around.
    is_of_next: bool,
}

impl<'c> Unequal<'c> {
    /// What follows from two numbers that differ, where `core` leaves out extensions.
    pub(super) fn of(
        left: Value<'c>,
        right: Value<'c>,
        core: impl Fn(Value<'c>) -> Value<'c>,
    ) -> impl Iterator<Item = Unequal<'c>> {
        let of_next = |one: Value<'c>, other: Value<'c>| {
            if let Some(behind) = is_one_before(other) {
                return Some((one, core(behind)));
            }
            // Where the sum wraps around, it is not a number of as many bits either.
            let before = is_behind(one).filter(|_| other.integer_bits() <= one.integer_bits())?;
            Some((core(before), other))
        };
        let both = Unequal {
            one: left,
            other: right,
            is_of_next: false,
        };
        let of_next = [of_next(left, right), of_next(right, left)];
        let of_next = of_next.into_iter().flatten();
        of_next
            .map(|(one, other)| Unequal {
                one,
                other,
                is_of_next: true,
            })
            .chain([both])
    }

    /// Whether it says that two numbers differ.
    pub(super) fn says(&self, one: Value<'c>, other: Value<'c>) -> bool {
        let both = (self.one, self.other);
        !self.is_of_next && (both == (one, other) || both == (other, one))
    }

    /// Whether it says that the number behind the first one is not the other.
    pub(super) fn says_of_next(&self, one: Value<'c>, other: Value<'c>) -> bool {
        self.is_of_next && (self.one, self.other) == (one, other)
    }
}

/// The number that a value is one less than, or wraps around where that is 0.
pub(super) fn is_one_before(value: Value<'_>) -> Option<Value<'_>> {
    let bits = value
        .integer_bits()
        .filter(|bits| (1..=64).contains(bits))?;
    sum_with(value, u64::MAX >> (64 - bits))
}

/// The number that a value is one more than, or wraps around.
pub(super) fn is_behind(value: Value<'_>) -> Option<Value<'_>> {
    sum_with(value, 1)
}

fn sum_with(value: Value<'_>, number: u64) -> Option<Value<'_>> {
    let is_sum = value.kind() == ValueKind::Instruction && value.opcode() == opcode::ADD;
    let added = is_sum.then(|| value.operand(1)?.as_integer())?;
    (added == Some(number)).then(|| value.operand(0))?
}
