//! Makes the copies of a loop's rounds.

use std::collections::{HashMap, HashSet};

use super::ROUNDS;
use super::steps::{Test, Until, in_first_round};
use crate::linker::loops::Loop;
use crate::llvm::{Attribute, Block, Value, ValueKind, opcode, predicate};

/// Metadata by which accesses of one round are told apart: each round would need its own.
const OF_ONE_ROUND: [&str; 2] = ["alias.scope", "noalias"];

/// The intrinsic that begins the scopes of a round.
const SCOPE: &str = "llvm.experimental.noalias.scope.decl";

/// Whether an instruction may stand in several rounds that follow each other. Threads that go through the original together might not go
/// through the copies so; a call costs more than what is won.
pub(super) fn may_be_copied(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        opcode::ALLOCA => false,
        opcode::CALL => {
            let is_convergent = instruction.has_call_flag("convergent");
            let Some(callee) = instruction.callee() else {
                return false;
            };
            !is_convergent
                && match callee.kind() {
                    ValueKind::InlineAsm => true,
                    ValueKind::Function => {
                        callee.is_intrinsic()
                            && !callee.has_flag(Attribute::Function, "convergent")
                            && !callee.has_flag(Attribute::Function, "noduplicate")
                    }
                    _ => false,
                }
        }
        _ => true,
    }
}

/// Puts rounds that need no test between them before a loop.
pub(super) fn unroll<'c>(function: Value<'c>, found: &Loop<'c>, test: &Test<'c>) {
    let before = found.before;
    let (Some(entry), Some(behind)) = (before.terminator(), found.behind()) else {
        return;
    };
    entry.erase();
    let started = guard(found, test);
    let Some(Guard { enters, steps }) = started else {
        before.push_jump(found.header);
        return;
    };
    let mut rounds = Rounds {
        found,
        maps: Vec::new(),
    };
    let first = function.append_block();
    rounds.add(function, first);
    before.push_branch(enters, first, found.header);
    for _ in 1..ROUNDS {
        let next = function.append_block();
        rounds.last().block(found.latch).push_jump(next);
        rounds.add(function, next);
    }
    // The last round's test, and whether as many follow again.
    let last = rounds.last();
    let (again, rest) = (function.append_block(), found.header);
    let latch = last.block(found.latch);
    let goes_on = last.value(test.comparison);
    match test.again {
        0 => latch.push_branch(goes_on, again, behind),
        _ => latch.push_branch(goes_on, behind, again),
    };
    let both = (last.value(test.less), last.value(test.more));
    let enough = is_beyond(again, both, steps.all_but_last);
    again.push_branch(enough, first, rest);
    for (phi, copy) in found.header.phis().into_iter().zip(first.phis()) {
        let values = (phi.incoming_from(before), phi.incoming_from(found.latch));
        if let (Some(at_first), Some(next)) = values {
            copy.add_incoming(at_first, before);
            copy.add_incoming(last.value(next), again);
            phi.add_incoming(last.value(next), again);
        }
    }
    rounds.leave();
}

/// What decides before the loop whether the copies are gone through.
struct Guard<'c> {
    enters: Value<'c>,
    steps: Steps<'c>,
}

/// Multiples of a step.
struct Steps<'c> {
    /// Of the rounds but the last one.
    all_but_last: Value<'c>,
    /// Of the rounds between the first and the last one.
    between: Value<'c>,
    /// Whether none of them is too great for its type; `None` if that is certain.
    fit: Option<Value<'c>>,
}

/// Puts the guard at the end of the block before the loop; `None` if it cannot be known.
fn guard<'c>(found: &Loop<'c>, test: &Test<'c>) -> Option<Guard<'c>> {
    let before = found.before;
    let steps = steps(before, test)?;
    let less = in_first_round(found, test.less)?;
    let more = in_first_round(found, test.more)?;
    let enough = is_beyond(before, (less, more), steps.between);
    // Where the loop goes until both are equal, that they are not equal is part of it.
    let goes_on =
        (test.until == Until::Past).then(|| before.push_comparison(predicate::LESS, less, more));
    // What was never computed where the first round leaves the loop may be poison, and any answer is right then.
    let parts = [enough].into_iter().chain(goes_on);
    let parts = parts.map(|part| before.push_freeze(part)).chain(steps.fit);
    let enters = parts.reduce(|all, part| before.push_binary(opcode::AND, all, part))?;
    Some(Guard { enters, steps })
}

/// Puts whether `more - less` is greater than this at the end of a block.
fn is_beyond<'c>(
    block: Block<'c>,
    (less, more): (Value<'c>, Value<'c>),
    steps: Value<'c>,
) -> Value<'c> {
    let number = |value: Value<'c>| match value.is_pointer() {
        true => block.push_address(value, steps),
        false => value,
    };
    let (more, less) = (number(more), number(less));
    let distance = block.push_binary(opcode::SUB, more, less);
    block.push_comparison(predicate::GREATER, distance, steps)
}

/// Computes the multiples of the step; `None` if even a small step would be too great.
fn steps<'c>(before: Block<'c>, test: &Test<'c>) -> Option<Steps<'c>> {
    let most = (1_u64 << (test.bits - 2)) / ROUNDS as u64;
    let constant = u64::try_from(test.step.constant).ok()?;
    let number = |number| match test.bits {
        64 => Value::integer(number, test.less),
        _ => Value::integer_like(number, test.less),
    };
    let rest = most.checked_sub(constant)?;
    let rounds = ROUNDS as u64;
    Some(match test.step.value {
        None => Steps {
            all_but_last: number(constant * (rounds - 1)),
            between: number(constant * (rounds - 2)),
            fit: None,
        },
        Some((value, factor)) => {
            let factor = u64::try_from(factor).ok()?;
            let times = |n: u64| {
                let product = before.push_binary(opcode::MUL, value, number(factor * n));
                before.push_binary(opcode::ADD, product, number(constant * n))
            };
            let limit = number(rest / factor);
            Steps {
                all_but_last: times(rounds - 1),
                between: times(rounds - 2),
                fit: Some(before.push_comparison(predicate::LESS_OR_EQUAL, value, limit)),
            }
        }
    })
}

/// The copies so far.
struct Rounds<'l, 'c> {
    found: &'l Loop<'c>,
    maps: Vec<Map<'c>>,
}

/// What stands for the loop's values and blocks in one copy.
#[derive(Default)]
struct Map<'c> {
    values: HashMap<Value<'c>, Value<'c>>,
    blocks: HashMap<Block<'c>, Block<'c>>,
}

impl<'c> Map<'c> {
    fn value(&self, value: Value<'c>) -> Value<'c> {
        self.values.get(&value).copied().unwrap_or(value)
    }

    fn block(&self, block: Block<'c>) -> Block<'c> {
        self.blocks.get(&block).copied().unwrap_or(block)
    }
}

impl<'c> Rounds<'_, 'c> {
    fn last(&self) -> &Map<'c> {
        &self.maps[self.maps.len() - 1]
    }

    /// Adds a round that begins with the block `first`. Its latch has no end yet; of the very first one the first block's phis have no values.
    fn add(&mut self, function: Value<'c>, first: Block<'c>) {
        let Loop {
            header,
            latch,
            blocks,
            ..
        } = self.found;
        let mut map = Map::default();
        for &block in blocks {
            let copy = match block == *header {
                true => first,
                false => function.append_block(),
            };
            map.blocks.insert(block, copy);
        }
        let has_scopes = blocks.iter().any(|block| {
            let mut instructions = block.instructions().into_iter();
            instructions.any(is_scope)
        });
        let mut copied = Vec::new();
        for &block in blocks {
            let to = map.block(block);
            for instruction in block.instructions() {
                let is_end_of_latch = block == *latch && instruction.is_terminator();
                if is_end_of_latch || is_scope(instruction) {
                    continue;
                }
                let is_phi = instruction.opcode() == opcode::PHI;
                let copy = match (is_phi && block == *header, self.maps.last()) {
                    (true, Some(before)) => match instruction.incoming_from(*latch) {
                        Some(next) => before.value(next),
                        None => continue,
                    },
                    _ if is_phi => to.push_phi(instruction),
                    _ => {
                        let copy = to.push_copy(instruction);
                        copied.push(copy);
                        copy
                    }
                };
                map.values.insert(instruction, copy);
            }
        }
        for copy in copied {
            for n in 0..copy.operand_count() {
                if let Some(operand) = copy.operand(n)
                    && let Some(&mapped) = map.values.get(&operand)
                {
                    copy.set_operand(n, mapped);
                }
            }
            for (n, to) in (0..).zip(copy.successors()) {
                copy.set_successor(n, map.block(to));
            }
            if has_scopes {
                OF_ONE_ROUND
                    .iter()
                    .for_each(|kind| copy.drop_metadata(kind));
            }
        }
        for block in blocks.iter().filter(|block| *block != header) {
            for phi in block.phis() {
                let copy = map.value(phi);
                for (value, from) in phi.incoming() {
                    copy.add_incoming(map.value(value), map.block(from));
                }
            }
        }
        self.maps.push(map);
    }

    /// Gives the phis behind the loop what the copies have for them.
    fn leave(&self) {
        let Loop { latch, blocks, .. } = self.found;
        let outside: HashSet<_> = blocks
            .iter()
            .flat_map(|block| block.successors())
            .filter(|to| !blocks.contains(to))
            .collect();
        for phi in outside.into_iter().flat_map(Block::phis) {
            for (value, from) in phi.incoming() {
                // Of the latches the last copy's alone leads out.
                let maps = match from == *latch {
                    true => &self.maps[ROUNDS - 1..],
                    false => &self.maps[..],
                };
                for map in maps.iter().filter(|map| map.blocks.contains_key(&from)) {
                    phi.add_incoming(map.value(value), map.block(from));
                }
            }
        }
    }
}

fn is_scope(instruction: Value<'_>) -> bool {
    instruction.is_call()
        && instruction
            .callee()
            .is_some_and(|callee| callee.name() == SCOPE)
}
