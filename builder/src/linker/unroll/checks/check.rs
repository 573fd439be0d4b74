//! The checks that each round of a loop makes: of a value that it changes by a step, against one that stays the same.

use crate::linker::loops::Loop;
use crate::linker::unroll::step::Step;
use crate::linker::unroll::steps::{Changes, is_inside};
use crate::llvm::{Block, Module, Value, opcode, predicate};

/// A check that each round makes: it goes on if `value < limit`.
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
pub(super) fn all<'c>(module: &Module<'c>, found: &Loop<'c>) -> Vec<Check<'c>> {
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
        all.extend(at_end(&mut changes, found, block, next));
        block = next;
    }
    all
}

/// The check at the end of a block, if it is one.
fn at_end<'c>(
    changes: &mut Changes<'_, 'c>,
    found: &Loop<'c>,
    block: Block<'c>,
    next: Block<'c>,
) -> Option<Check<'c>> {
    let branch = block.terminator()?;
    let [yes, no]: [Block<'c>; 2] = branch.successors().try_into().ok()?;
    let other = if yes == next { no } else { yes };
    let comparison = branch.operand(0)?;
    if !other.is_dead_end() || !is_inside(found, comparison) || comparison.opcode() != opcode::ICMP
    {
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
    let values = match changes.of(value) {
        Some(step) if step != Step::ZERO => Values::Steps(step),
        Some(_) => return None,
        None => Values::UpTo(greatest(value)?),
    };
    let is_check = is_inside(found, value) && !is_inside(found, limit);
    is_check.then_some(Check {
        block,
        next,
        value,
        limit,
        values,
        bits,
    })
}

/// The greatest number that a value of few bits may be.
fn greatest(value: Value<'_>) -> Option<u64> {
    match value.opcode() {
        opcode::ZEXT => match value.operand(0)?.integer_bits()? {
            bits @ ..=16 => Some((1 << bits) - 1),
            _ => greatest(value.operand(0)?),
        },
        opcode::AND => value.operand(1)?.as_integer(),
        _ => None,
    }
}
