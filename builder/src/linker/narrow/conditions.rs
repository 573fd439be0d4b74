//! What is known where a block is reached: the comparisons of unsigned numbers that the branches on the way have decided.

use super::decided;
use super::dominators::Dominators;
use super::factors;
use super::ranges::Range;
use super::unequal::Unequal;
use super::values::{Values, bits_of};
use crate::llvm::{Block, Value, opcode, predicate};

/// How many extensions are looked through.
const DEPTH: u32 = 8;

/// Comparisons that hold.
#[derive(Clone)]
pub(super) struct Known<'v, 'c> {
    values: &'v Values<'v, 'c>,
    block: Block<'c>,
    comparisons: Vec<Comparison<'c>>,
    unequal: Vec<Unequal<'c>>,
}

/// That one number is below another, or not above it. Both are without extensions, so that the same number is the same value.
#[derive(Clone)]
struct Comparison<'c> {
    smaller: Value<'c>,
    larger: Value<'c>,
    is_strict: bool,
}

impl<'v, 'c> Known<'v, 'c> {
    /// What is known where a reachable block is.
    pub(super) fn at(
        block: Block<'c>,
        values: &'v Values<'v, 'c>,
        dominators: &Dominators<'c>,
    ) -> Known<'v, 'c> {
        let mut known = Known {
            values,
            block,
            comparisons: Vec::new(),
            unequal: Vec::new(),
        };
        for (from, to) in decided::edges(block, dominators) {
            if let Some((condition, holds)) = decided::condition(from, to) {
                for (comparison, holds) in decided::comparisons(condition, holds) {
                    known.add(comparison, holds);
                }
            }
        }
        known
    }

    /// The same where a comparison is `holds`, too.
    pub(super) fn with(&self, comparison: Value<'c>, holds: bool) -> Known<'v, 'c> {
        let mut known = self.clone();
        known.add(comparison, holds);
        known
    }

    /// Whether two numbers are known to differ; both are without extensions.
    pub(super) fn differ(&self, one: Value<'c>, other: Value<'c>) -> bool {
        self.unequal.iter().any(|known| known.says(one, other))
    }

    /// Whether the number behind the first one is known not to be the other.
    pub(super) fn next_differs(&self, one: Value<'c>, other: Value<'c>) -> bool {
        let mut unequal = self.unequal.iter();
        unequal.any(|known| known.says_of_next(one, other))
    }

    /// The least and the most that an unsigned number is.
    pub(super) fn ends(&self, value: Value<'c>) -> (u64, u64) {
        let range = self.values.at(value, self.block);
        // What may be negative is read from 64 bits, and may be any of those.
        let range = range.filter(|range| range.is_non_negative());
        let end = |end: fn(&Range) -> i128| {
            range
                .as_ref()
                .and_then(|range| u64::try_from(end(range)).ok())
        };
        let low = end(|range| range.low).unwrap_or(0);
        let high = end(|range| range.high).unwrap_or(u64::MAX);
        // What is above a constant, in whatever width that was asked.
        let compared = self.comparisons.iter().filter(|c| c.larger == value);
        let limits = compared.filter_map(|c| {
            let limit = c.smaller.as_integer()?;
            limit.checked_add(c.is_strict.into())
        });
        (limits.fold(low, u64::max), high)
    }

    /// The numbers that `value` does not exceed, each with whether it is below them.
    pub(super) fn above(&self, value: Value<'c>) -> impl Iterator<Item = (Value<'c>, bool)> {
        let with = self.comparisons.iter().filter(move |c| c.smaller == value);
        with.map(|c| (c.larger, c.is_strict))
    }

    /// The numbers that do not exceed `value`, each with whether it is above them.
    pub(super) fn below(&self, value: Value<'c>) -> impl Iterator<Item = (Value<'c>, bool)> {
        let with = self.comparisons.iter().filter(move |c| c.larger == value);
        with.map(|c| (c.smaller, c.is_strict))
    }

    /// Adds that `comparison` is `holds`.
    fn add(&mut self, comparison: Value<'c>, holds: bool) -> Option<()> {
        let (left, right) = (comparison.operand(0)?, comparison.operand(1)?);
        bits_of(left)?;
        let is_below = matches!(
            (comparison.predicate(), holds),
            (predicate::NOT_EQUAL, true) | (predicate::EQUAL, false)
        ) && self.values.is_below_if_other(left, right);
        let (left, right) = (self.core(left), self.core(right));
        if is_below {
            self.push(left, right, true);
        }
        match (comparison.predicate(), holds) {
            (predicate::LESS, true) | (predicate::GREATER_OR_EQUAL, false) => {
                self.push(left, right, true)
            }
            (predicate::LESS_OR_EQUAL, true) | (predicate::GREATER, false) => {
                self.push(left, right, false)
            }
            (predicate::GREATER, true) | (predicate::LESS_OR_EQUAL, false) => {
                self.push(right, left, true)
            }
            (predicate::GREATER_OR_EQUAL, true) | (predicate::LESS, false) => {
                self.push(right, left, false)
            }
            (predicate::EQUAL, true) | (predicate::NOT_EQUAL, false) => {
                self.push(left, right, false);
                self.push(right, left, false);
            }
            (predicate::NOT_EQUAL, true) | (predicate::EQUAL, false)
                if right.as_integer() == Some(0) =>
            {
                for factor in factors::of_not_zero(left) {
                    self.push(right, self.core(factor), true);
                }
            }
            (predicate::NOT_EQUAL, true) | (predicate::EQUAL, false) => {
                let unequal: Vec<_> = Unequal::of(left, right, |value| self.core(value)).collect();
                self.unequal.extend(unequal);
            }
            _ => {}
        }
        Some(())
    }

    fn push(&mut self, smaller: Value<'c>, larger: Value<'c>, is_strict: bool) {
        self.comparisons.push(Comparison {
            smaller,
            larger,
            is_strict,
        });
    }

    /// The value that this one is in another width, or behind a loop.
    pub(super) fn core(&self, mut value: Value<'c>) -> Value<'c> {
        for _ in 0..DEPTH {
            if !value.is_instruction() {
                break;
            }
            let (Some(operand), Some(bits)) = (value.operand(0), value.integer_bits()) else {
                break;
            };
            let is_same = match value.opcode() {
                opcode::ZEXT => true,
                opcode::PHI => value.operand_count() == 1,
                opcode::TRUNC => {
                    bits_of(operand).is_some() && self.ends(operand).1 <= u64::MAX >> (64 - bits)
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
}
