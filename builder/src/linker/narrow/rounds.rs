//! How often a loop begins anew at most, by the counter that ends it.

use super::dominators::Dominators;
use super::ranges::Range;
use crate::llvm::{Block, Value, ValueKind, opcode, predicate};

/// A phi of a loop's first block that each round adds a constant to.
pub(super) struct Counter<'c> {
    phi: Value<'c>,
    pub start: Value<'c>,
    /// The block before the loop.
    pub before: Block<'c>,
    next: Value<'c>,
    latch: Block<'c>,
    step: i128,
}

impl<'c> Counter<'c> {
    pub(super) fn of(phi: Value<'c>, dominators: &Dominators<'c>) -> Option<Counter<'c>> {
        let header = phi.block();
        let incoming = <[_; 2]>::try_from(phi.incoming()).ok()?;
        let [one, other] = incoming;
        [(one, other), (other, one)]
            .into_iter()
            .find_map(|((start, before), (next, latch))| {
                let is_sum = next.kind() == ValueKind::Instruction
                    && next.opcode() == opcode::ADD
                    && next.operand(0) == Some(phi);
                let step = is_sum.then(|| next.operand(1)).flatten()?.as_integer()?;
                let step = match phi.integer_bits()? {
                    64 => step as i64,
                    bits => (step << (64 - bits)) as i64 >> (64 - bits),
                };
                let is_loop = dominators.is_reachable(latch)
                    && dominators.dominates(header, latch)
                    && dominators.is_reachable(before)
                    && !dominators.dominates(header, before);
                let is_small = (1..1 << 20).contains(&step.unsigned_abs());
                (is_loop && is_small).then_some(Counter {
                    phi,
                    start,
                    before,
                    next,
                    latch,
                    step: step.into(),
                })
            })
    }

    /// The first block of the loop.
    pub(super) fn header(&self) -> Block<'c> {
        self.phi.block()
    }

    /// All counters of the same loop.
    pub(super) fn beside(&self, dominators: &Dominators<'c>) -> Vec<Counter<'c>> {
        let phis = self.header().phis().into_iter();
        phis.filter(|phi| phi.integer_bits().is_some_and(|bits| bits <= 64) && !phi.is_pointer())
            .filter_map(|phi| Counter::of(phi, dominators))
            .collect()
    }

    /// How the end of a round decides that another follows, if this counter decides it.
    pub(super) fn end(&self, dominators: &Dominators<'c>) -> Option<End<'c>> {
        let branch = self.latch.terminator()?;
        let ways: [Block<'c>; 2] = branch.successors().try_into().ok()?;
        let header = self.header();
        if branch.opcode() != opcode::BRANCH || ways[0] == ways[1] || self.step < 1 {
            return None;
        }
        let comparison = branch.operand(0)?;
        if comparison.kind() != ValueKind::Instruction || comparison.opcode() != opcode::ICMP {
            return None;
        }
        let is_right = comparison.operand(0)? == self.next;
        let number = comparison.operand(if is_right { 1 } else { 0 })?;
        if !is_right && comparison.operand(1)? != self.next {
            return None;
        }
        let is_outside = number.kind() != ValueKind::Instruction
            || (number.block() != header && dominators.dominates(number.block(), header));
        let is_until = match (comparison.predicate(), ways[0] == header, is_right) {
            (predicate::NOT_EQUAL, true, _) | (predicate::EQUAL, false, _) => true,
            (predicate::LESS, true, true)
            | (predicate::GREATER, true, false)
            | (predicate::GREATER_OR_EQUAL, false, true)
            | (predicate::LESS_OR_EQUAL, false, false) => false,
            _ => return None,
        };
        is_outside.then_some(End { number, is_until })
    }

    /// How many rounds follow the first one at most; `None` if nothing is known of it.
    pub(super) fn most_rounds(&self, end: &End<'c>, start: Range, limit: Range) -> Option<i128> {
        if !start.is_non_negative() || !limit.is_non_negative() {
            return None;
        }
        let all = Range::of_type(self.phi.integer_bits()?);
        // Else the next number may wrap around to one below the limit.
        if limit.high + self.step > all.high && !end.is_until {
            return None;
        }
        let distance = limit.high - start.low;
        let rounds = match end.is_until {
            // The counter is the limit at some time only if it begins below it, and does not step over it.
            true if start.high < limit.low && self.meets(end.number) => distance / self.step - 1,
            true => return None,
            false => (distance - 1) / self.step,
        };
        Some(rounds.max(0))
    }

    /// Whether a number from which the start is not higher is among those that are counted.
    fn meets(&self, number: Value<'c>) -> bool {
        let is_multiple = |number: u64| i128::from(number) % self.step == 0;
        let is_even_end = || match number.as_integer() {
            Some(number) => is_multiple(number),
            None => {
                number.kind() == ValueKind::Instruction
                    && number.opcode() == opcode::AND
                    && self.step.count_ones() == 1
                    && number
                        .operand(1)
                        .and_then(Value::as_integer)
                        .is_some_and(is_multiple)
            }
        };
        self.step == 1 || (self.start.as_integer().is_some_and(is_multiple) && is_even_end())
    }

    /// What the counter is in a loop of so many more rounds.
    pub(super) fn range(&self, start: Range, rounds: i128) -> Range {
        let last = self.step * rounds;
        Range::new(start.low + last.min(0), start.high + last.max(0))
    }
}

/// What the next number is compared with.
pub(super) struct End<'c> {
    pub number: Value<'c>,
    /// Whether the loop goes on until both are equal; else while the next number is below it.
    is_until: bool,
}
