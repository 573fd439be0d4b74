//! Makes the copies of a loop's rounds.

use super::early::{Early, Made};
use super::guard::Guard;
use super::last_rounds::{self, Left};
use super::rounds::Rounds;
use super::steps::Test;
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
