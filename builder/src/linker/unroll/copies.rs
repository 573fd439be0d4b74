//! Makes the copies of a loop's rounds.

use std::collections::HashSet;

use super::early::{Early, Made};
use super::guard::Guard;
use super::scopes::{drop_scopes, is_scope};
use super::steps::Test;
use crate::linker::block_copies::Copies;
use crate::linker::loops::Loop;
use crate::llvm::{Attribute, Block, Value, ValueKind, opcode};

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

/// Puts so many rounds that need no test between them before a loop; gives the block that leads back to the first of them.
pub(super) fn unroll<'c>(
    function: Value<'c>,
    found: &Loop<'c>,
    (test, count): (&Test<'c>, usize),
    early: Option<&Early<'c>>,
) -> Option<Block<'c>> {
    let before = found.before;
    let (entry, behind) = (before.terminator()?, found.behind()?);
    entry.erase();
    let Some(guard) = Guard::before(found, test, count) else {
        before.push_jump(found.header);
        return None;
    };
    let mut rounds = Rounds {
        found,
        maps: Vec::new(),
    };
    let mut early = early.map(|early| Made::before(early, found));
    let enters = early.as_ref().and_then(|early| early.enters);
    let both = |other| before.push_binary(opcode::AND, guard.enters, other);
    let enters = enters.map_or(guard.enters, both);
    let first = function.append_block();
    before.push_branch(enters, first, found.header);
    let phis = found.header.phis().into_iter();
    let phis: Vec<_> = phis.map(|phi| (phi, first.push_phi(phi))).collect();
    let mut next = match &mut early {
        Some(early) => early.put(function, first, &phis),
        None => first,
    };
    let mut known = phis;
    for n in 0..count {
        if let Some(early) = &early {
            known.extend(&early.known[n]);
        }
        if n > 0 {
            next = function.append_block();
            rounds.last().block(found.latch).push_jump(next);
        }
        rounds.add(function, next, &known);
        known.clear();
    }
    // Whether as many follow again; if not, the last round's test.
    let last = rounds.last();
    let (rest, header) = (function.append_block(), found.header);
    let latch = last.block(found.latch);
    let mut again = guard.again(latch, |value| last.value(value));
    let next = |phi: Value<'c>| Some(last.value(phi.incoming_from(found.latch)?));
    if let Some(inside) = early.and_then(|early| early.are_inside(latch, next)) {
        again = latch.push_binary(opcode::AND, again, inside);
    }
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

/// Puts a copy of a loop whose end is a branch behind the block before it, which does not lead there yet; gives the copy's first block. Each block of
/// `passed` goes on to the one beside it.
pub(super) fn copy_without<'c>(
    function: Value<'c>,
    found: &Loop<'c>,
    passed: &[(Block<'c>, Block<'c>)],
) -> Block<'c> {
    let mut rounds = Rounds {
        found,
        maps: Vec::new(),
    };
    let first = function.append_block();
    rounds.add(function, first, &[]);
    let copy = rounds.last();
    for &(block, next) in passed {
        let to = copy.block(block);
        to.terminator().inspect(|branch| branch.erase());
        to.push_jump(copy.block(next));
    }
    let latch = copy.block(found.latch);
    let goes_on = found.latch.terminator().and_then(|end| end.operand(0));
    let ways = found.latch.successors().into_iter();
    let ways: Vec<_> = ways.map(|to| copy.block(to)).collect();
    if let (Some(goes_on), &[yes, no]) = (goes_on, &ways[..]) {
        latch.push_branch(copy.value(goes_on), yes, no);
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
    maps: Vec<Copies<'c>>,
}

impl<'c> Rounds<'_, 'c> {
    fn last(&self) -> &Copies<'c> {
        &self.maps[self.maps.len() - 1]
    }

    /// Adds a round that begins with the block `first`, where the values of `known` stand for the loop's. Its latch has no end yet; of the very first
    /// one the first block's phis have no values.
    fn add(&mut self, function: Value<'c>, first: Block<'c>, known: &[(Value<'c>, Value<'c>)]) {
        let Loop {
            header,
            latch,
            blocks,
            ..
        } = self.found;
        let is_first = |block: Block<'c>| block == *header;
        let mut map = Copies::of_blocks(blocks.iter().map(|block| match is_first(*block) {
            true => (*block, first),
            false => (*block, function.append_block()),
        }));
        let mut copied = Vec::new();
        let mut has_scopes = false;
        for instruction in blocks.iter().flat_map(|block| block.instructions()) {
            let block = instruction.block();
            if let Some((_, value)) = known.iter().find(|(one, _)| *one == instruction) {
                map.set(instruction, *value);
            } else if is_scope(instruction) {
                has_scopes = true;
            } else if instruction.opcode() == opcode::PHI && is_first(block) {
                let next = || instruction.incoming_from(*latch);
                let value = match self.maps.last() {
                    Some(before) => next().map(|next| before.value(next)),
                    None => Some(first.push_phi(instruction)),
                };
                if let Some(value) = value {
                    map.set(instruction, value);
                }
            } else if block != *latch || !instruction.is_terminator() {
                copied.push(map.push(instruction));
            }
        }
        map.connect();
        if has_scopes {
            copied.into_iter().for_each(drop_scopes);
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
                for map in self.maps.iter().filter(|map| map.has(from)) {
                    phi.add_incoming(map.value(value), map.block(from));
                }
            }
        }
    }
}
