//! What the comparisons on the way to a block say of a value.

use super::relation::Relation;
use super::{Values, bits_of};
use crate::linker::narrow::ranges::Range;
use crate::llvm::{Block, Value, ValueKind, opcode, predicate};

/// How many dominators are asked what is known on the way from them.
const BLOCKS: u32 = 32;

/// How deep a condition is taken apart.
const PARTS: u32 = 8;

impl<'c> Values<'_, 'c> {
    /// With what is known on the way to a block.
    pub(super) fn refined(
        &self,
        mut range: Range,
        value: Value<'c>,
        block: Block<'c>,
        depth: u32,
    ) -> Range {
        let mut edges = Vec::new();
        let mut at = block;
        for _ in 0..BLOCKS {
            let Some(above) = self.dominators.above(at) else {
                break;
            };
            // Nothing else leads here, so the branch was taken this way. The nearest dominator is then the block before.
            if self.dominators.entered_from(at) == Some(above) {
                edges.push((above, at));
            }
            at = above;
        }
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
        let branch = from.terminator();
        let branch = branch.filter(|i| i.opcode() == opcode::BRANCH);
        let Some((branch, [yes, no])) = branch.and_then(|branch| {
            let ways: [Block<'c>; 2] = branch.successors().try_into().ok()?;
            Some((branch, ways))
        }) else {
            return range;
        };
        match branch.operand(0) {
            Some(condition) if yes != no => {
                self.if_so(condition, yes == to, range, value, from, depth)
            }
            _ => range,
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
        self.by_parts(condition, holds, range, value, block, PARTS, depth)
    }

    /// The same; the condition is taken apart so deep.
    #[allow(clippy::too_many_arguments)]
    fn by_parts(
        &self,
        condition: Value<'c>,
        holds: bool,
        range: Range,
        value: Value<'c>,
        block: Block<'c>,
        parts: u32,
        depth: u32,
    ) -> Range {
        let Some(parts) = parts.checked_sub(1) else {
            return range;
        };
        if condition.kind() != ValueKind::Instruction {
            return range;
        }
        let operand = |n| condition.operand(n);
        let both = |range, a: Option<Value<'c>>, b: Option<Value<'c>>| {
            [a, b].into_iter().flatten().fold(range, |range, part| {
                self.by_parts(part, holds, range, value, block, parts, depth)
            })
        };
        let constant = |n| operand(n).and_then(Value::as_integer);
        match condition.opcode() {
            opcode::AND if holds => both(range, operand(0), operand(1)),
            opcode::OR if !holds => both(range, operand(0), operand(1)),
            // `a && b` and `a || b` without the computation of `b`.
            opcode::SELECT if holds && constant(2) == Some(0) => {
                both(range, operand(0), operand(1))
            }
            opcode::SELECT if !holds && constant(1) == Some(1) => {
                both(range, operand(0), operand(2))
            }
            opcode::ICMP => self.compared(condition, holds, range, value, block, depth),
            _ => range,
        }
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
