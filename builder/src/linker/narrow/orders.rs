//! Whether the branches on the way to a loop have decided that one number is below another.

use super::decided;
use super::dominators::Dominators;
use crate::llvm::{Block, Value, predicate};

/// A comparison as `smaller < larger`, or `<=` unless strict.
pub(super) fn below(comparison: Value<'_>) -> Option<(Value<'_>, Value<'_>, bool)> {
    let (left, right) = (comparison.operand(0)?, comparison.operand(1)?);
    match comparison.predicate() {
        predicate::LESS => Some((left, right, true)),
        predicate::LESS_OR_EQUAL => Some((left, right, false)),
        predicate::GREATER => Some((right, left, true)),
        predicate::GREATER_OR_EQUAL => Some((right, left, false)),
        _ => None,
    }
}

/// That `smaller < larger`, or `<=` unless strict.
#[derive(Clone, Copy)]
pub(super) struct Order<'c> {
    pub smaller: Value<'c>,
    pub larger: Value<'c>,
    pub is_strict: bool,
}

impl<'c> Order<'c> {
    /// Whether it is decided where `from` leads to `to`.
    pub(super) fn is_decided(
        self,
        from: Block<'c>,
        to: Block<'c>,
        dominators: &Dominators<'c>,
    ) -> bool {
        if self.is_decided_by(from, to) {
            return true;
        }
        // Nothing else leads there, so the branches were taken this way.
        decided::edges(from, dominators).any(|(from, to)| self.is_decided_by(from, to))
    }

    fn is_decided_by(self, from: Block<'c>, to: Block<'c>) -> bool {
        decided::condition(from, to).is_some_and(|(condition, holds)| {
            let mut comparisons = decided::comparisons(condition, holds).into_iter();
            comparisons.any(|(comparison, holds)| self.follows(comparison, holds))
        })
    }

    /// Whether it follows from what a comparison is.
    fn follows(self, comparison: Value<'c>, holds: bool) -> bool {
        below(comparison).is_some_and(|(smaller, larger, is_strict)| {
            let (smaller, larger, is_strict) = match holds {
                true => (smaller, larger, is_strict),
                false => (larger, smaller, !is_strict),
            };
            (smaller, larger) == (self.smaller, self.larger) && (is_strict || !self.is_strict)
        })
    }
}
