//! Makes the copies of a loop's rounds.

use std::collections::{HashMap, HashSet};

use super::ROUNDS;
use super::guard::Guard;
use super::steps::Test;
use crate::linker::loops::Loop;
use crate::llvm::{Attribute, Block, Value, ValueKind, opcode};

/// Metadata by which accesses of one round are told apart: each round would need its own.
const OF_ONE_ROUND: [&str; 2] = ["alias.scope", "noalias"];

/// The intrinsic that begins the scopes of a round.
const SCOPE: &str = "llvm.experimental.noalias.scope.decl";

/// Whether an instruction may stand in several rounds that follow each other; a call costs more than what is won.
pub(super) fn may_be_copied(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        opcode::ALLOCA => false,
        opcode::CALL => instruction.callee().is_some_and(|callee| {
            let is_intrinsic = callee.kind() == ValueKind::Function
                && callee.is_intrinsic()
                && !callee.has_flag(Attribute::Function, "noduplicate");
            is_intrinsic || callee.kind() == ValueKind::InlineAsm
        }),
        _ => true,
    }
}

/// Whether threads meet at an instruction.
pub(super) fn is_meeting(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::CALL
        && (instruction.has_call_flag("convergent")
            || instruction.callee().is_some_and(|callee| {
                callee.kind() == ValueKind::Function
                    && callee.has_flag(Attribute::Function, "convergent")
            }))
}

/// Puts rounds that need no test between them before a loop; gives the block that leads back to the first of them.
pub(super) fn unroll<'c>(
    function: Value<'c>,
    found: &Loop<'c>,
    test: &Test<'c>,
) -> Option<Block<'c>> {
    let before = found.before;
    let (entry, behind) = (before.terminator()?, found.behind()?);
    entry.erase();
    let Some(guard) = Guard::before(found, test) else {
        before.push_jump(found.header);
        return None;
    };
    let mut rounds = Rounds {
        found,
        maps: Vec::new(),
    };
    let first = function.append_block();
    rounds.add(function, first);
    before.push_branch(guard.enters, first, found.header);
    for _ in 1..ROUNDS {
        let next = function.append_block();
        rounds.last().block(found.latch).push_jump(next);
        rounds.add(function, next);
    }
    // Whether as many follow again; if not, the last round's test.
    let last = rounds.last();
    let (rest, header) = (function.append_block(), found.header);
    let latch = last.block(found.latch);
    let again = guard.again(latch, |value| last.value(value));
    latch.push_branch(again, first, rest);
    let goes_on = last.value(test.comparison);
    match test.again {
        0 => rest.push_branch(goes_on, header, behind),
        _ => rest.push_branch(goes_on, behind, header),
    };
    for (phi, copy) in header.phis().into_iter().zip(first.phis()) {
        let values = (phi.incoming_from(before), phi.incoming_from(found.latch));
        if let (Some(at_first), Some(next)) = values {
            copy.add_incoming(at_first, before);
            copy.add_incoming(last.value(next), latch);
            phi.add_incoming(last.value(next), rest);
        }
    }
    rounds.leave(rest, &[]);
    Some(latch)
}

/// Puts a copy of a loop behind the block before it, which does not lead there yet; gives the copy's first block. Each block of `passed` goes on to the
/// one beside it.
pub(super) fn copy_without<'c>(
    function: Value<'c>,
    found: &Loop<'c>,
    test: &Test<'c>,
    passed: &[(Block<'c>, Block<'c>)],
) -> Block<'c> {
    let mut rounds = Rounds {
        found,
        maps: Vec::new(),
    };
    let first = function.append_block();
    rounds.add(function, first);
    let copy = rounds.last();
    for &(block, next) in passed {
        let to = copy.block(block);
        to.terminator().inspect(|branch| branch.erase());
        to.push_jump(copy.block(next));
    }
    let latch = copy.block(found.latch);
    let goes_on = copy.value(test.comparison);
    let ways = found.latch.successors().into_iter();
    if let [yes, no] = ways.map(|to| copy.block(to)).collect::<Vec<_>>()[..] {
        latch.push_branch(goes_on, yes, no);
    }
    for (phi, of_copy) in found.header.phis().into_iter().zip(first.phis()) {
        let values = (
            phi.incoming_from(found.before),
            phi.incoming_from(found.latch),
        );
        if let (Some(at_first), Some(next)) = values {
            of_copy.add_incoming(at_first, found.before);
            of_copy.add_incoming(copy.value(next), latch);
        }
    }
    let passed: Vec<_> = passed.iter().map(|(block, _)| *block).collect();
    rounds.leave(latch, &passed);
    first
}

/// The copies so far.
struct Rounds<'l, 'c> {
    found: &'l Loop<'c>,
    maps: Vec<Map<'c>>,
}

/// What stands for the loop's values and blocks in one copy.
#[derive(Clone, Default)]
pub(super) struct Map<'c> {
    pub values: HashMap<Value<'c>, Value<'c>>,
    blocks: HashMap<Block<'c>, Block<'c>>,
}

impl<'c> Map<'c> {
    pub(super) fn value(&self, value: Value<'c>) -> Value<'c> {
        self.values.get(&value).copied().unwrap_or(value)
    }

    fn block(&self, block: Block<'c>) -> Block<'c> {
        self.blocks.get(&block).copied().unwrap_or(block)
    }

    /// Puts a copy of an operation, whose operands are known, at the end of a block.
    pub(super) fn push_copy(&mut self, original: Value<'c>, block: Block<'c>) {
        let copy = block.push_copy(original);
        for n in 0..copy.operand_count() {
            if let Some(operand) = copy.operand(n)
                && let Some(&mapped) = self.values.get(&operand)
            {
                copy.set_operand(n, mapped);
            }
        }
        self.values.insert(original, copy);
        drop_scopes(copy);
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
                drop_scopes(copy);
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

    /// Gives the phis behind the loop what the copies have for them: the last latch's leads there from `rest`, and no copies of `passed` do.
    fn leave(&self, rest: Block<'c>, passed: &[Block<'c>]) {
        let Loop { latch, blocks, .. } = self.found;
        let outside: HashSet<_> = blocks
            .iter()
            .flat_map(|block| block.successors())
            .filter(|to| !blocks.contains(to))
            .collect();
        for phi in outside.into_iter().flat_map(Block::phis) {
            for (value, from) in phi.incoming() {
                if passed.contains(&from) {
                    continue;
                }
                // Of the last copy's latch that leads out, of the others none.
                if from == *latch {
                    phi.add_incoming(self.last().value(value), rest);
                    continue;
                }
                for map in self
                    .maps
                    .iter()
                    .filter(|map| map.blocks.contains_key(&from))
                {
                    phi.add_incoming(map.value(value), map.block(from));
                }
            }
        }
    }
}

/// Takes off an access what holds for one round alone.
fn drop_scopes(access: Value<'_>) {
    let kinds = OF_ONE_ROUND.iter();
    kinds.for_each(|kind| access.drop_metadata(kind));
}

/// Whether an instruction only begins the scopes of a round.
pub(super) fn is_scope(instruction: Value<'_>) -> bool {
    instruction.is_call()
        && instruction
            .callee()
            .is_some_and(|callee| callee.name() == SCOPE)
}
