//! Whether the branches on the way to a loop have decided that one number is below another.

use super::dominators::Dominators;
use crate::llvm::{Block, Value, ValueKind, opcode, predicate};

/// How many dominators are asked.
const BLOCKS: u32 = 32;

/// How deep a condition is taken apart.
const PARTS: u32 = 8;

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
        let mut at = from;
        for _ in 0..BLOCKS {
            let Some(above) = dominators.above(at) else {
                break;
            };
            // Nothing else leads here, so the branch was taken this way.
            if dominators.entered_from(at) == Some(above) && self.is_decided_by(above, at) {
                return true;
            }
            at = above;
        }
        false
    }

    fn is_decided_by(self, from: Block<'c>, to: Block<'c>) -> bool {
        let branch = from.terminator();
        let branch = branch.filter(|i| i.opcode() == opcode::BRANCH);
        branch.is_some_and(|branch| match branch.successors()[..] {
            [yes, no] if yes != no => branch
                .operand(0)
                .is_some_and(|condition| self.follows(condition, yes == to, PARTS)),
            _ => false,
        })
    }

    /// Whether it follows from what a condition is.
    fn follows(self, condition: Value<'c>, holds: bool, parts: u32) -> bool {
        let Some(parts) = parts.checked_sub(1) else {
            return false;
        };
        if condition.kind() != ValueKind::Instruction {
            return false;
        }
        let part = |n| {
            let part = condition.operand(n);
            part.is_some_and(|part| self.follows(part, holds, parts))
        };
        let is_constant = |n, number| {
            let constant = condition.operand(n).and_then(Value::as_integer);
            constant == Some(number)
        };
        match condition.opcode() {
            opcode::AND if holds => part(0) || part(1),
            opcode::OR if !holds => part(0) || part(1),
            // `a && b` and `a || b` without the computation of `b`.
            opcode::SELECT if holds && is_constant(2, 0) => part(0) || part(1),
            opcode::SELECT if !holds && is_constant(1, 1) => part(0) || part(2),
            opcode::ICMP => below(condition).is_some_and(|(smaller, larger, is_strict)| {
                let (smaller, larger, is_strict) = match holds {
                    true => (smaller, larger, is_strict),
                    false => (larger, smaller, !is_strict),
                };
                (smaller, larger) == (self.smaller, self.larger) && (is_strict || !self.is_strict)
            }),
            _ => false,
        }
    }
}
