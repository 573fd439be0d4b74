//! Sums that end at a limit: `x + min(end - x, most)`.

use crate::llvm::{Attribute, Place, Value, opcode, predicate};

/// The attribute of a parameter that is a length.
pub(in crate::linker) const LENGTH: &str = "warpsmith-length";

/// The greatest length that a parameter may be; `None` of one that is no length.
pub(in crate::linker) fn most_length(function: Value<'_>, number: u32) -> Option<u64> {
    let most = function.text_attribute(Attribute::Parameter(number), LENGTH)?;
    most.parse().ok()
}

/// How the name of the minimum of unsigned integers begins.
const MINIMUM: &str = "llvm.umin.i";

/// How far [`most_of`] looks.
const DEPTH: u32 = 6;

/// Such a sum, compared with `end`; or `max(x, sum)`, which LLVM makes of it where it may wrap around.
pub(super) struct Limited<'c> {
    predicate: i32,
    /// Which operand of the comparison it is.
    operand: u32,
    pub sum: Value<'c>,
    /// The maximum, if it is one.
    pub maximum: Option<Value<'c>>,
    start: Value<'c>,
    pub minimum: Value<'c>,
    pub most: Value<'c>,
    end: Value<'c>,
}

impl<'c> Limited<'c> {
    /// The sum that a comparison of integers compares, if there is one.
    pub(super) fn compared(comparison: Value<'c>) -> Option<Limited<'c>> {
        let find = |operand: u32| {
            let value = comparison.operand(operand)?;
            let end = comparison.operand(1 - operand)?;
            let sum = |sum: Value<'c>, maximum| {
                either_way(sum, opcode::ADD, |start, minimum| {
                    Some(Limited {
                        predicate: comparison.predicate(),
                        operand,
                        sum,
                        maximum,
                        start,
                        minimum,
                        most: limit(minimum, start, end)?,
                        end,
                    })
                })
            };
            let of_maximum = |start, limited| {
                let found = sum(limited, Some(value))?;
                (found.start == start).then_some(found)
            };
            match value.is_call_of(&["llvm.umax.i"]) {
                true => either_way(value, opcode::CALL, of_maximum),
                false => sum(value, None),
            }
        };
        find(0).or_else(|| find(1))
    }

    /// Whether `end + most` is known to, if the sum alone is compared.
    fn stays_in_the_type(&self) -> Option<bool> {
        if self.maximum.is_some() {
            return None;
        }
        let highest = highest(self.end.integer_bits()?)?;
        let (end, most) = (most_of(self.end, DEPTH)?, most_of(self.most, DEPTH)?);
        Some(end.checked_add(most)? <= highest)
    }

    /// Whether the comparison says that the sum is below `end` if it `holds`.
    pub(super) fn is_lesser(&self, holds: bool) -> bool {
        let comparison = match (self.operand, holds) {
            (0, true) => predicate::LESS,
            (0, false) => predicate::GREATER_OR_EQUAL,
            (_, true) => predicate::GREATER,
            (_, false) => predicate::LESS_OR_EQUAL,
        };
        self.predicate == comparison
    }
}

/// `most` of `min(end - start, most)`.
fn limit<'c>(minimum: Value<'c>, start: Value<'c>, end: Value<'c>) -> Option<Value<'c>> {
    if !minimum.is_call_of(&[MINIMUM]) {
        return None;
    }
    let is_rest = |value: Value<'c>| {
        let is = |n, expected| value.operand(n) == Some(expected);
        value.is_instruction() && value.opcode() == opcode::SUB && is(0, end) && is(1, start)
    };
    let (one, other) = (minimum.operand(0)?, minimum.operand(1)?);
    match (is_rest(one), is_rest(other)) {
        (true, _) => Some(other),
        (_, true) => Some(one),
        _ => None,
    }
}

/// What `found` finds in the operands of an instruction with this opcode, in either order.
fn either_way<'c, T>(
    value: Value<'c>,
    opcode: i32,
    found: impl Fn(Value<'c>, Value<'c>) -> Option<T>,
) -> Option<T> {
    if !value.is_instruction() || value.opcode() != opcode {
        return None;
    }
    let (one, other) = (value.operand(0)?, value.operand(1)?);
    found(one, other).or_else(|| found(other, one))
}

/// Compares without the minimum.
///
/// Where the sum does not wrap around, or its maximum with `x` is compared, `x` is below `end` if the comparison holds; it does if `most` is below
/// `end - x` then. So `x < end - min(end, most)` is the same.
///
/// Elsewhere `x + most < end` is the same if `end + most` stays in the type: where the minimum is `end - x`, which is less than `most`, the new sum
/// is above `end` by less than `most`, and so does not wrap around.
pub(super) fn compare_without_limit(comparison: Value<'_>) -> bool {
    let Some(limited) = Limited::compared(comparison) else {
        return false;
    };
    if !(limited.is_lesser(true) || limited.is_lesser(false)) {
        return false;
    }
    let Limited {
        start, most, end, ..
    } = limited;
    let place = Place::before(comparison);
    let (lesser, greater) = if limited.stays_in_the_type() == Some(true) {
        let sum = place.binary(opcode::ADD, start, most);
        (sum, end)
    } else if (limited.maximum.is_some() || limited.sum.never_wraps())
        && let Some(minimum) = limited.minimum.callee()
    {
        let minimum = comparison.build_call_before(minimum, &[end, most]);
        let rest = place.binary(opcode::SUB, end, minimum);
        (start, rest)
    } else {
        return false;
    };
    let (left, right) = match limited.operand {
        0 => (lesser, greater),
        _ => (greater, lesser),
    };
    // Not the comparison as it was: that both have the same sign may have been known of the old sum only.
    let again = place.comparison(comparison.predicate(), left, right);
    comparison.replace_by(again);
    true
}

/// The highest number of so many bits.
fn highest(bits: u32) -> Option<u64> {
    (1..=64).contains(&bits).then(|| u64::MAX >> (64 - bits))
}

/// A number that an unsigned one never exceeds.
fn most_of(value: Value<'_>, depth: u32) -> Option<u64> {
    let of_type = || value.integer_bits().and_then(highest);
    of_type()?;
    if let Some(number) = value.as_integer() {
        return Some(number);
    }
    if let Some((function, number)) = value.as_parameter() {
        return most_length(function, number).or_else(of_type);
    }
    if depth == 0 || !value.is_instruction() {
        return of_type();
    }
    let operand = |n| value.operand(n).and_then(|value| most_of(value, depth - 1));
    let least = || operand(0).into_iter().chain(operand(1)).min();
    match value.opcode() {
        opcode::ZEXT => operand(0),
        opcode::AND => least(),
        opcode::CALL if value.is_call_of(&[MINIMUM]) => least(),
        opcode::ADD if value.never_wraps() => operand(0)?.checked_add(operand(1)?),
        opcode::SUB if value.never_wraps() => operand(0),
        opcode::LSHR => {
            let shift = value.operand(1).and_then(Value::as_integer);
            let shift = u32::try_from(shift.unwrap_or(0)).ok();
            operand(0)?.checked_shr(shift?)
        }
        opcode::SELECT => Some(operand(1)?.max(operand(2)?)),
        opcode::PHI if value.operand_count() == 2 => Some(operand(0)?.max(operand(1)?)),
        _ => None,
    }
    .or_else(of_type)
}
