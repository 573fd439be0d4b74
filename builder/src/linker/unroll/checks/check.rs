//! The checks that rounds of a loop make: of a value against one that stays the same, or of what stays the same altogether.

use crate::linker::loops::{Loop, is_inside};
use crate::linker::narrow::bounds::most_at;
use crate::linker::narrow::dominators::Dominators;
use crate::linker::unroll::step::Step;
use crate::linker::unroll::steps::Changes;
use crate::llvm::{Block, Module, Value, opcode, predicate};

/// A value that may be greater is not taken to be an index into a table that has an element for each.
const MOST: u64 = 1 << 20;

/// A check.
pub(super) struct Check<'c> {
    /// The block that it ends, and where that goes on.
    pub block: Block<'c>,
    pub next: Block<'c>,
    pub what: What<'c>,
}

/// What has to hold for the round to go on.
pub(super) enum What<'c> {
    /// That a condition which is the same in all rounds is this.
    Is(Value<'c>, bool),
    Below(Below<'c>),
}

/// `value < limit`; or `value != limit`, which is so if no round brings the value to its limit.
pub(super) struct Below<'c> {
    pub value: Value<'c>,
    pub limit: Value<'c>,
    pub values: Values<'c>,
    pub bits: u32,
    /// Whether it is that the two differ.
    pub is_difference: bool,
}

impl<'c> Check<'c> {
    /// The comparison, if it is one of a value that changes.
    pub(super) fn below(&self) -> Option<&Below<'c>> {
        match &self.what {
            What::Below(below) => Some(below),
            What::Is(..) => None,
        }
    }
}

/// Which values a check compares.
#[derive(Clone, Copy)]
pub(super) enum Values<'c> {
    /// One that each round changes by a step.
    Steps(Step<'c>),
    /// Some that are not greater than this.
    UpTo(u64),
}

/// The checks that every round makes, in their order.
pub(super) fn all<'c>(
    module: &Module<'c>,
    found: &Loop<'c>,
    dominators: &Dominators<'c>,
) -> Vec<Check<'c>> {
    let mut changes = Changes::of_loop(module, found);
    let mut all = Vec::new();
    for (block, next) in found.first_blocks() {
        let Some(branch) = Branch::at(found, block, next) else {
            continue;
        };
        let values = |value| match changes.of(value) {
            Some(Step::ZERO) => None,
            Some(step) => Some(Values::Steps(step)),
            None => up_to(value, block, dominators),
        };
        let is = || branch.same(found);
        let what = is().or_else(|| branch.below(found, values).map(What::Below));
        all.extend(what.map(|what| Check { block, next, what }));
    }
    all
}

/// The checks of values that are known not to be great, wherever in the loop but at its end.
pub(super) fn of_known<'c>(found: &Loop<'c>, dominators: &Dominators<'c>) -> Vec<Check<'c>> {
    let blocks = found.blocks.iter().copied();
    let blocks = blocks.filter(|block| *block != found.latch && dominators.is_reachable(*block));
    let ways = blocks.flat_map(|block| block.successors().into_iter().map(move |to| (block, to)));
    let all = ways.filter_map(|(block, next)| {
        let branch = Branch::at(found, block, next)?;
        let below = branch.below(found, |value| up_to(value, block, dominators))?;
        // LLVM knows how those against a constant come out.
        let is_known = below.limit.as_integer().is_some();
        let what = What::Below(below);
        (!is_known).then_some(Check { block, next, what })
    });
    all.collect()
}

/// A branch that goes on inside the loop, or to a panic.
struct Branch<'c> {
    condition: Value<'c>,
    /// Whether it goes on where the condition holds.
    is_needed: bool,
}

impl<'c> Branch<'c> {
    /// The branch at the end of a block, if it is one that goes on to `next`.
    fn at(found: &Loop<'c>, block: Block<'c>, next: Block<'c>) -> Option<Branch<'c>> {
        let branch = block.terminator()?;
        let [yes, no]: [Block<'c>; 2] = branch.successors().try_into().ok()?;
        let other = if yes == next { no } else { yes };
        let is_inside = |block| found.blocks.contains(&block);
        let is_check = branch.opcode() == opcode::BRANCH
            && is_inside(next)
            && !is_inside(other)
            && other.is_dead_end();
        is_check.then_some(Branch {
            condition: branch.operand(0)?,
            is_needed: yes == next,
        })
    }

    /// The condition, if it is the same in all rounds.
    fn same(&self, found: &Loop<'c>) -> Option<What<'c>> {
        let is_same = !is_inside(found, self.condition);
        is_same.then_some(What::Is(self.condition, self.is_needed))
    }

    /// The comparison of such values.
    fn below(
        &self,
        found: &Loop<'c>,
        values: impl FnOnce(Value<'c>) -> Option<Values<'c>>,
    ) -> Option<Below<'c>> {
        let comparison = self.condition;
        if !is_inside(found, comparison) || comparison.opcode() != opcode::ICMP {
            return None;
        }
        let (left, right) = (comparison.operand(0)?, comparison.operand(1)?);
        let (value, limit) = match (comparison.predicate(), self.is_needed) {
            (predicate::LESS, true) | (predicate::GREATER_OR_EQUAL, false) => (left, right),
            (predicate::GREATER, true) | (predicate::LESS_OR_EQUAL, false) => (right, left),
            (predicate::NOT_EQUAL, true) | (predicate::EQUAL, false) => {
                match is_inside(found, left) {
                    true => (left, right),
                    false => (right, left),
                }
            }
            _ => return None,
        };
        let bits = value
            .integer_bits()
            .filter(|bits| matches!(bits, 32 | 64))?;
        if !is_inside(found, value) || is_inside(found, limit) {
            return None;
        }
        let values = values(value)?;
        let is_difference = matches!(
            comparison.predicate(),
            predicate::EQUAL | predicate::NOT_EQUAL
        );
        let is_check = !is_difference || matches!(values, Values::Steps(_));
        is_check.then_some(Below {
            value,
            limit,
            values,
            bits,
            is_difference,
        })
    }
}

/// The values up to the greatest one that a value may be where a block is, if it is not great.
fn up_to<'c>(
    value: Value<'c>,
    block: Block<'c>,
    dominators: &Dominators<'c>,
) -> Option<Values<'c>> {
    let most = most_at(value, block, dominators)?;
    (most <= MOST).then_some(Values::UpTo(most))
}
