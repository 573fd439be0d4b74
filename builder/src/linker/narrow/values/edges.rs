//! What the comparisons on the way to a block say of a value.

use super::relation::Relation;
use super::{Values, bits_of};
use crate::linker::narrow::decided;
use crate::linker::narrow::ranges::Range;
use crate::llvm::{Block, Value, predicate};

impl<'c> Values<'_, 'c> {
    /// With what is known on the way to a block.
    pub(super) fn refined(
        &self,
        mut range: Range,
        value: Value<'c>,
        block: Block<'c>,
        depth: u32,
    ) -> Range {
        let edges: Vec<_> = decided::edges(block, self.dominators).collect();
        // Twice: that a number is not zero says more of one that is known not to be negative.
        for (from, to) in edges.repeat(2) {
            range = self.on_edge(range, value, from, to, depth);
        }
        range
    }

    /// With what the branch at the end of `from` decides on the way to `to`.
    pub(super) fn on_edge(
        &self,
        range: Range,
        value: Value<'c>,
        from: Block<'c>,
        to: Block<'c>,
        depth: u32,
    ) -> Range {
        match decided::condition(from, to) {
            Some((condition, holds)) => self.if_so(condition, holds, range, value, from, depth),
            None => range,
        }
    }

    /// With what is known where `condition` is `holds`.
    pub(super) fn if_so(
        &self,
        condition: Value<'c>,
        holds: bool,
        range: Range,
        value: Value<'c>,
        block: Block<'c>,
        depth: u32,
    ) -> Range {
        let comparisons = decided::comparisons(condition, holds).into_iter();
        comparisons.fold(range, |range, (comparison, holds)| {
            self.compared(comparison, holds, range, value, block, depth)
        })
    }

    fn compared(
        &self,
        comparison: Value<'c>,
        holds: bool,
        range: Range,
        value: Value<'c>,
        block: Block<'c>,
        depth: u32,
    ) -> Range {
        let side = |n| comparison.operand(n);
        let (Some(left), Some(right)) = (side(0), side(1)) else {
            return range;
        };
        let Some(bits) = bits_of(left) else {
            return range;
        };
        let mut range = range;
        let sides = [
            (left, right, comparison.predicate()),
            (right, left, predicate::swapped(comparison.predicate())),
        ];
        for (one, other, predicate) in sides {
            let predicate = if holds {
                predicate
            } else {
                predicate::inverted(predicate)
            };
            let Some(relation) = Relation::between(one, value) else {
                continue;
            };
            let predicate = match (predicate, &relation) {
                (predicate::NOT_EQUAL, Relation::Same)
                    if self.is_below_end(value, other, bits, depth) =>
                {
                    predicate::LESS
                }
                _ => predicate,
            };
            let limit = self.range(other, bits, block, depth);
            range = match relation {
                Relation::Same => range.compared(predicate, limit, bits),
                // Each operand has some of the bits.
                Relation::Part => match Range::of_type(bits).compared(predicate, limit, bits) {
                    whole if whole.is_non_negative() && predicate != predicate::NOT_EQUAL => {
                        range.and(Range::new(0, whole.high))
                    }
                    _ => range,
                },
                Relation::Before(constant) => {
                    match Range::of_type(bits).compared(predicate, limit, bits) {
                        number if number.is_signed_32() || number.is_unsigned_32() => {
                            range.and(Range::new(number.low + constant, number.high + constant))
                        }
                        _ => range,
                    }
                }
                Relation::Sum(constant) => {
                    match Range::of_type(bits).compared(predicate, limit, bits) {
                        // The sum may wrap around, but what it was made of is a number of the type, too.
                        sum if sum.is_signed_32() || sum.is_unsigned_32() => {
                            range.and(Range::new(sum.low - constant, sum.high - constant))
                        }
                        _ => range,
                    }
                }
            };
        }
        range
    }
}
