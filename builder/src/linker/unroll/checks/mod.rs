//! A loop of which it can be told beforehand that all rounds pass their bounds checks is gone through without them.
//!
//! ```text
//! do { if i + k >= n { panic } ..; k += 1 } while k < m
//! ```
//! becomes
//! ```text
//! if i + k < n && m - (k + 1) < n - (i + k) {  // the rounds behind the first one
//!     do { ..; k += 1 } while k < m
//! } else {
//!     do { if i + k >= n { panic } ..; k += 1 } while k < m
//! }
//! ```
//!
//! A table that is asked for numbers that are never great, such as bytes, is long enough for all of them or not:
//!
//! ```text
//! do { .. if x & 255 >= n { panic } .. } while ..
//! ```
//! becomes
//! ```text
//! if 255 < n { do { .. } while .. } else { do { .. if x & 255 >= n { panic } .. } while .. }
//! ```
//!
//! Each round's loads wait for its check, and a loop with several ends is not unrolled further by ptxas. The checks are those that each round makes, of
//! a value that it changes by a step, or any of values that are never great, against one that stays the same. Rounds that may not all pass them are made by
//! the loop as it was, so what a thread does before it panics is the same. Where the threads of a [warp] meet in the loop, they go the same way; loops in
//! which those of a block meet stay as they are.

mod before;
mod check;
mod passing;
mod rounds;
mod warp;
mod whole_warps;

use std::collections::HashSet;

use super::copies;
use super::steps::{NOT_TO_UNROLL, Test};
use crate::linker::loops::{self, Loop};
use crate::linker::meetings::is_meeting;
use crate::linker::narrow::dominators::Dominators;
use crate::llvm::{Block, Module, Value, opcode};
use check::Check;
use warp::Vote;

/// A loop of more instructions has enough to do besides.
const MOST_INSTRUCTIONS: usize = 80;

/// The same where nothing but the lengths of tables is tested before the loop.
const MOST_INSTRUCTIONS_WITH_TABLES: usize = 256;

/// How many checks a loop may have, or tables: each is tested before it.
const MOST_CHECKS: usize = 4;

/// Gives the loops of a function such a copy; whether there were any.
pub(super) fn release<'c>(module: &Module<'c>, function: Value<'c>) -> bool {
    let mut is_any = false;
    let mut dominators = None;
    for found in loops::innermost(function) {
        let known = dominators.get_or_insert_with(|| Dominators::of(function));
        if whole_warps::release(module, function, &found, known)
            || release_loop(module, function, &found, known)
        {
            is_any = true;
            dominators = None;
        }
    }
    is_any
}

fn release_loop<'c>(
    module: &Module<'c>,
    function: Value<'c>,
    found: &Loop<'c>,
    dominators: &Dominators<'c>,
) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.instructions());
    let count = instructions().count();
    let end = found.latch.terminator();
    if count > MOST_INSTRUCTIONS_WITH_TABLES
        || end.is_none_or(|end| end.opcode() != opcode::BRANCH)
        || !instructions().all(copies::may_be_copied)
    {
        return false;
    }
    let test = Test::of(module, found);
    // An elementwise loop over what a block or a warp has is short: what is tested before it, and before its copies, costs more than the checks.
    let is_elementwise = instructions().any(|i| i.opcode() == opcode::STORE);
    let step = test.as_ref().and_then(|test| test.step.value);
    let is_short = is_elementwise && !step.is_some_and(|(step, _)| has_blocks(step));
    let has_meetings = instructions().any(is_meeting);
    if let Some(test) = test.filter(|_| count <= MOST_INSTRUCTIONS && !is_short) {
        let checks = check::all(module, found, dominators);
        let vote = has_meetings.then(|| Vote::of(function, found, &checks));
        let below = checks.iter().filter_map(Check::below).count();
        let may_be = vote.as_ref().is_none_or(Option::is_some);
        let is_worth_it = may_be && !checks.is_empty() && below <= MOST_CHECKS;
        let vote = vote.flatten();
        let first = vote.as_ref().map_or(0, |vote| vote.first);
        let pass = is_worth_it.then(|| passing::put(found, &test, &checks, first));
        if let Some(pass) = pass.flatten() {
            let copy = copy_without(function, found, &checks);
            match vote {
                None => found.before.push_branch(pass.all, copy, found.header),
                Some(vote) => vote.branch(module, function, found, (pass, copy)),
            };
            return true;
        }
    }
    if has_meetings || is_short && count <= super::MOST_INSTRUCTIONS {
        return false;
    }
    let checks = check::of_known(found, dominators);
    let below = checks.iter().filter_map(Check::below);
    let tables: HashSet<_> = below.map(|below| below.limit).collect();
    let pass = (tables.len() <= MOST_CHECKS).then(|| passing::put_known(found, &checks));
    let Some(pass) = pass.flatten() else {
        return false;
    };
    let copy = copy_without(function, found, &checks);
    found.before.push_branch(pass, copy, found.header);
    true
}

/// Puts a copy of a loop without these checks beside it, for where they pass; gives the copy's first block. The block before the loop has no end then.
fn copy_without<'c>(function: Value<'c>, found: &Loop<'c>, checks: &[Check<'c>]) -> Block<'c> {
    let passed: Vec<_> = checks
        .iter()
        .map(|check| (check.block, check.next))
        .collect();
    let copy = copies::copy_without(function, found, &passed);
    found.before.terminator().inspect(|jump| jump.erase());
    let latch = found.latch.terminator();
    latch.inspect(|latch| latch.set_loop_property(NOT_TO_UNROLL));
    copy
}

/// Whether a step is computed from the number of the grid's blocks.
fn has_blocks(step: Value<'_>) -> bool {
    const BLOCKS: &str = "llvm.nvvm.read.ptx.sreg.nctaid.";
    let callee = step.is_call().then(|| step.callee()).flatten();
    if callee.is_some_and(|callee| callee.name().starts_with(BLOCKS)) {
        return true;
    }
    let is_product =
        step.is_call() || [opcode::MUL, opcode::SHL, opcode::ZEXT].contains(&step.opcode());
    let mut factors = (0..step.operand_count()).filter_map(|n| step.operand(n));
    is_product && factors.any(has_blocks)
}
