//! Makes the copies of a loop's rounds.

use std::collections::HashSet;

use super::early::{Early, Made};
use super::guard::Guard;
use super::last_rounds::{self, Left};
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
    early_loads: Option<&Early<'c>>,
) -> Option<Block<'c>> {
    let before = found.before;
    let (entry, behind) = (before.terminator()?, found.behind()?);
    entry.erase();
    let Some(guard) = Guard::before(found, test, count) else {
        before.push_jump(found.header);
        return None;
    };
    let mut rounds = Rounds::of(found);
    let mut early = early_loads.map(|early| Made::before(early, found));
    let enters = early.as_ref().and_then(|early| early.enters);
    let both = |other| before.push_binary(opcode::AND, guard.enters, other);
    let enters = enters.map_or(guard.enters, both);
    let first = function.append_block();
    let last_rounds = early_loads.filter(|early| early.is_chain());
    let left = last_rounds.map(|_| Left::in_block(function.append_block(), found));
    let otherwise = left.as_ref().map_or(found.header, |left| left.block);
    before.push_branch(enters, first, otherwise);
    let phis = found.header.phis().into_iter();
    let phis: Vec<_> = phis.map(|phi| (phi, first.push_phi(phi))).collect();
    let mut next = match &mut early {
        Some(early) => early.put(function, (first, &phis), otherwise),
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
    let latch = last.block(found.latch);
    let mut again = guard.again(latch, |value| last.value(value));
    let next = |phi: Value<'c>| Some(last.value(phi.incoming_from(found.latch)?));
    if let Some(inside) = early.and_then(|early| early.are_inside(latch, next)) {
        again = latch.push_binary(opcode::AND, again, inside);
    }
    let rest = match &left {
        Some(left) => left.block,
        None => function.append_block(),
    };
    latch.push_branch(again, first, rest);
    for (phi, copy) in found.header.phis().into_iter().zip(first.phis()) {
        let values = (phi.incoming_from(before), phi.incoming_from(found.latch));
        if let (Some(at_first), Some(next)) = values {
            copy.add_incoming(at_first, before);
            copy.add_incoming(last.value(next), latch);
        }
    }
    let goes_on = last.value(test.comparison);
    let (goes_on, left) = match left.zip(last_rounds) {
        Some((left, early)) => {
            let goes_on = left.meet(&mut rounds, test, latch);
            (goes_on, last_rounds::put(function, test, early, &left)?)
        }
        None => {
            for phi in found.header.phis() {
                if let Some(next) = phi.incoming_from(found.latch) {
                    phi.add_incoming(last.value(next), rest);
                }
            }
            (goes_on, found.header)
        }
    };
    match test.again {
        0 => rest.push_branch(goes_on, left, behind),
        _ => rest.push_branch(goes_on, behind, left),
    };
    rounds.leave(&[(count - 1, rest)], &[]);
    if left != found.header {
        found.header.replace_incoming(before, &[]);
    }
    Some(latch)
}

/// Puts a copy of a loop whose end is a branch behind the block before it, which does not lead there yet; gives the copy's first block. Each block of
/// `passed` goes on to the one beside it.
pub(super) fn copy_without<'c>(
    function: Value<'c>,
    found: &Loop<'c>,
    passed: &[(Block<'c>, Block<'c>)],
) -> Block<'c> {
    let mut rounds = Rounds::of(found);
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
    rounds.leave(&[(0, latch)], &passed);
    first
}

/// The copies so far.
pub(super) struct Rounds<'l, 'c> {
    found: &'l Loop<'c>,
    maps: Vec<Copies<'c>>,
}

impl<'l, 'c> Rounds<'l, 'c> {
    pub(super) fn of(found: &'l Loop<'c>) -> Rounds<'l, 'c> {
        Rounds {
            found,
            maps: Vec::new(),
        }
    }

    pub(super) fn last(&self) -> &Copies<'c> {
        &self.maps[self.maps.len() - 1]
    }

    /// What stands for a value in each of them.
    pub(super) fn values(&self, value: Value<'c>) -> Vec<Value<'c>> {
        self.maps.iter().map(|map| map.value(value)).collect()
    }

    /// Lets a value stand for another one in the last of them.
    pub(super) fn set_last(&mut self, value: Value<'c>, copy: Value<'c>) {
        if let Some(last) = self.maps.last_mut() {
            last.set(value, copy);
        }
    }

    /// Adds a round that begins with the block `first`, where the values of `known` stand for the loop's. Its latch has no end yet; of the very first
    /// one the first block's phis have no values.
    pub(super) fn add(
        &mut self,
        function: Value<'c>,
        first: Block<'c>,
        known: &[(Value<'c>, Value<'c>)],
    ) {
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

    /// Gives the phis behind the loop what the copies have for them: the latches of those in `ends` lead there from these blocks, those of the
    /// others do not, and no copies of `passed` do.
    pub(super) fn leave(&self, ends: &[(usize, Block<'c>)], passed: &[Block<'c>]) {
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
                if from == *latch {
                    for &(n, end) in ends {
                        phi.add_incoming(self.maps[n].value(value), end);
                    }
                    continue;
                }
                for map in self.maps.iter().filter(|map| map.has(from)) {
                    phi.add_incoming(map.value(value), map.block(from));
                }
            }
        }
    }
}
