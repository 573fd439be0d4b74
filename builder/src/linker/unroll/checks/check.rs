//! The checks that rounds of a loop make, of a value against one that stays the same.

use crate::linker::loops::Loop;
use crate::linker::narrow::bounds::most_at;
use crate::linker::narrow::dominators::Dominators;
use crate::linker::unroll::step::Step;
use crate::linker::unroll::steps::{Changes, is_inside};
use crate::llvm::{Block, Module, Value, opcode, predicate};

/// A value that may be greater is not taken to be an index into a table that has an element for each.
const MOST: u64 = 1 << 20;

/// A check: the round goes on if `value < limit`.
pub(super) struct Check<'c> {
    /// The block that it ends, and where that goes on.
    pub block: Block<'c>,
    pub next: Block<'c>,
    pub value: Value<'c>,
    pub limit: Value<'c>,
    pub values: Values<'c>,
    pub bits: u32,
}

/// Which values a check compares.
#[derive(Clone, Copy)]
pub(super) enum Values<'c> {
    /// One that each round changes by a step.
    Steps(Step<'c>),
    /// Some that are not greater than this.
    UpTo(u64),
}

/// The checks that every round makes.
pub(super) fn all<'c>(
    module: &Module<'c>,
    found: &Loop<'c>,
    dominators: &Dominators<'c>,
) -> Vec<Check<'c>> {
    let mut changes = Changes::of_loop(module, found);
    let mut all = Vec::new();
    let mut block = found.header;
    while block != found.latch {
        let inside: Vec<_> = block
            .successors()
            .into_iter()
            .filter(|to| found.blocks.contains(to))
            .collect();
        let &[next] = &inside[..] else {
            break;
        };
        all.extend(at_end(found, block, |value| match changes.of(value) {
            Some(Step::ZERO) => None,
            Some(step) => Some(Values::Steps(step)),
            None => up_to(value, block, dominators),
        }));
        block = next;
    }
    all
}

/// The checks of values that are known not to be great, wherever in the loop but at its end.
pub(super) fn of_known<'c>(found: &Loop<'c>, dominators: &Dominators<'c>) -> Vec<Check<'c>> {
    let blocks = found.blocks.iter().copied();
    let all = blocks
        .filter(|block| *block != found.latch && dominators.is_reachable(*block))
        .filter_map(|block| at_end(found, block, |value| up_to(value, block, dominators)));
    // LLVM knows how those against a constant come out.
    all.filter(|check| check.limit.as_integer().is_none())
        .collect()
}

/// The check at the end of a block, if it is one, of such values.
fn at_end<'c>(
    found: &Loop<'c>,
    block: Block<'c>,
    values: impl FnOnce(Value<'c>) -> Option<Values<'c>>,
) -> Option<Check<'c>> {
    let branch = block.terminator()?;
    let [yes, no]: [Block<'c>; 2] = branch.successors().try_into().ok()?;
    let (next, other) = match (found.blocks.contains(&yes), found.blocks.contains(&no)) {
        (true, false) => (yes, no),
        (false, true) => (no, yes),
        _ => return None,
    };
    let comparison = branch.operand(0)?;
    let is_comparison = branch.opcode() == opcode::BRANCH && comparison.opcode() == opcode::ICMP;
    if !other.is_dead_end() || !is_inside(found, comparison) || !is_comparison {
        return None;
    }
    let (left, right) = (comparison.operand(0)?, comparison.operand(1)?);
    let (value, limit) = match (comparison.predicate(), yes == next) {
        (predicate::LESS, true) | (predicate::GREATER_OR_EQUAL, false) => (left, right),
        (predicate::GREATER, true) | (predicate::LESS_OR_EQUAL, false) => (right, left),
        _ => return None,
    };
    let bits = value
        .integer_bits()
        .filter(|bits| matches!(bits, 32 | 64))?;
    let is_check = is_inside(found, value) && !is_inside(found, limit);
    is_check.then_some(Check {
        block,
        next,
        value,
        limit,
        values: values(value)?,
        bits,
    })
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
