//! How often a loop begins anew at most, by the counter that ends it.

use super::dominators::Dominators;
use super::orders::Order;
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

    /// What it is in a round.
    pub(super) fn number(&self) -> Value<'c> {
        self.phi
    }

    /// What each round adds to it.
    pub(super) fn step(&self) -> i128 {
        self.step
    }

    /// What it is in the next round.
    pub(super) fn next(&self) -> Value<'c> {
        self.next
    }

    /// All counters of the same loop.
    pub(super) fn beside(&self, dominators: &Dominators<'c>) -> Vec<Counter<'c>> {
        let phis = self.header().phis().into_iter();
        phis.filter(|phi| phi.integer_bits().is_some_and(|bits| bits <= 64) && !phi.is_pointer())
            .filter_map(|phi| Counter::of(phi, dominators))
            .collect()
    }

    /// How a round decides that another follows, if this counter decides it: at its end, or at a place that each round comes by which another follows.
    pub(super) fn end(&self, dominators: &Dominators<'c>) -> Option<End<'c>> {
        let (mut block, mut inside) = (self.latch, Some(self.header()));
        loop {
            let end = inside.and_then(|inside| self.end_at(block, inside, dominators));
            if end.is_some() || block == self.header() {
                return end;
            }
            let above = dominators.above(block)?;
            // Where other blocks lead there, too, it says nothing what this one decides.
            inside = Some(block).filter(|block| dominators.only_before(*block) == Some(above));
            block = above;
        }
    }

    /// The same of the branch at the end of a block, from which each round in question goes on to `inside`.
    fn end_at(
        &self,
        block: Block<'c>,
        inside: Block<'c>,
        dominators: &Dominators<'c>,
    ) -> Option<End<'c>> {
        let branch = block.terminator()?;
        let ways: [Block<'c>; 2] = branch.successors().try_into().ok()?;
        let header = self.header();
        if branch.opcode() != opcode::BRANCH || ways[0] == ways[1] {
            return None;
        }
        let comparison = branch.operand(0)?;
        if comparison.kind() != ValueKind::Instruction || comparison.opcode() != opcode::ICMP {
            return None;
        }
        let is_counted = |value: &Value<'c>| *value == self.next || *value == self.phi;
        let sides = (comparison.operand(0)?, comparison.operand(1)?);
        let is_right = is_counted(&sides.0);
        let (counted, number) = match is_right {
            true => sides,
            false => (sides.1, sides.0),
        };
        if !is_counted(&counted) {
            return None;
        }
        let is_outside = number.kind() != ValueKind::Instruction
            || (number.block() != header && dominators.dominates(number.block(), header));
        let is_until = match (comparison.predicate(), ways[0] == inside, is_right) {
            (predicate::NOT_EQUAL, true, _) | (predicate::EQUAL, false, _) => true,
            (predicate::LESS, true, true)
            | (predicate::GREATER, true, false)
            | (predicate::GREATER_OR_EQUAL, false, true)
            | (predicate::LESS_OR_EQUAL, false, false) => false,
            _ => return None,
        };
        // Of what counts down it is not known that it stays above what it is compared with.
        let is_right = is_outside && (is_until || self.step > 0);
        is_right.then_some(End {
            number,
            is_until,
            is_of_next: counted == self.next,
        })
    }

    /// Whether it counts by one until it is a number itself.
    pub(super) fn counts_to(&self, end: &End<'c>, number: Value<'c>) -> bool {
        self.step == 1 && end.is_until && !end.is_of_next && end.number == number
    }

    /// Whether it counts by one.
    pub(super) fn is_by_one(&self) -> bool {
        self.step == 1
    }

    /// Whether both are counters of the same phi.
    pub(super) fn is(&self, other: &Counter<'c>) -> bool {
        self.phi == other.phi
    }

    /// That the counter begins below what it counts to: at it, if it is compared itself.
    pub(super) fn order(&self, end: &End<'c>) -> Order<'c> {
        Order {
            smaller: self.start,
            larger: end.number,
            is_strict: end.is_of_next,
        }
    }

    /// What the next number is compared with, if what is compared with such numbers decides.
    fn limit(&self, end: &End<'c>, number: Range) -> Range {
        match end.is_of_next {
            true => number,
            false => Range::new(number.low + self.step, number.high + self.step),
        }
    }

    /// How many rounds follow the first one at most; `None` if nothing is known of it. `is_ordered` says whether the [`order`](Self::order) is known.
    pub(super) fn most_rounds(
        &self,
        end: &End<'c>,
        (start, number, is_ordered): (Range, Range, bool),
    ) -> Option<i128> {
        if let Some(rounds) = self.rounds_between_constants(end) {
            return Some(rounds);
        }
        if !start.is_non_negative() || !number.is_non_negative() {
            return None;
        }
        if self.step < 0 {
            return self.most_rounds_down(end, start, number);
        }
        let limit = self.limit(end, number);
        let all = Range::of_type(self.phi.integer_bits()?);
        // Else the next number may wrap around to one below the limit.
        if limit.high + self.step > all.high && !end.is_until {
            return None;
        }
        let distance = limit.high - start.low;
        let rounds = match end.is_until {
            // The counter is the limit at some time only if it begins below it, and does not step over it.
            true if (is_ordered || start.high < limit.low) && self.meets(end.number) => {
                distance / self.step - 1
            }
            true => return None,
            false => (distance - 1) / self.step,
        };
        Some(rounds.max(0))
    }

    /// The same of a counter that goes down by one until it is a number that it begins above.
    fn most_rounds_down(&self, end: &End<'c>, start: Range, number: Range) -> Option<i128> {
        let limit = self.limit(end, number);
        let is_met = self.step == -1 && start.low > limit.high;
        is_met.then(|| start.high - limit.low - 1)
    }

    /// How many rounds follow the first one of a counter that goes from one constant until it is another. Both may be negative, if they have 64 bits.
    fn rounds_between_constants(&self, end: &End<'c>) -> Option<i128> {
        let signed =
            |number: Value<'c>| number.as_integer().map(|number| i128::from(number as i64));
        let (first, number) = (signed(self.start)?, signed(end.number)?);
        let limit = self.limit(end, Range::new(number, number)).low;
        let distance = limit - first;
        let is_met = distance.signum() == self.step.signum() && distance % self.step == 0;
        // No round begins with the end: the one before does not lead to another.
        (end.is_until && is_met).then(|| distance / self.step - 1)
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

    /// The last number of the counter that ends the loop, which goes on for some rounds at most.
    pub(super) fn last(&self, end: &End<'c>, start: Range, number: Range) -> i128 {
        let limit = self.limit(end, number).high;
        start
            .high
            .max(limit - if end.is_until { self.step } else { 1 })
    }

    /// The least number of a counter that goes down by one until it is another one, above which it begins.
    pub(super) fn least(&self, end: &End<'c>, number: Range) -> Option<i128> {
        (self.step == -1 && end.is_until).then(|| self.limit(end, number).low + 1)
    }

    /// What the counter is in a loop of so many more rounds.
    pub(super) fn range(&self, start: Range, rounds: i128) -> Range {
        let last = self.step * rounds;
        Range::new(start.low + last.min(0), start.high + last.max(0))
    }
}

/// What the next number, or the one of the round, is compared with.
pub(super) struct End<'c> {
    pub number: Value<'c>,
    /// Whether the loop goes on until both are equal; else while the next number is below it.
    is_until: bool,
    /// Whether it is the next number that is compared, else the number of the round.
    is_of_next: bool,
}
