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
//! Each round's loads wait for its check, and a loop with several ends is not unrolled further by ptxas. The checks are those that each round makes, of
//! a value that it changes by a step, against one that stays the same. Rounds that do not all pass them are made by the loop as it was, so what a thread
//! does before it panics is the same. Loops in which threads meet stay as they are: threads would meet in two places.

mod before;
mod check;
mod passing;
mod rounds;
mod whole_warps;

use super::copies;
use super::steps::{NOT_TO_UNROLL, Test};
use crate::linker::loops::{self, Loop};
use crate::llvm::{Module, Value, opcode};

/// A loop of more instructions has enough to do besides.
const MOST_INSTRUCTIONS: usize = 80;

/// How many checks a loop may have: each is tested before it.
const MOST_CHECKS: usize = 4;

/// Gives the loops of a function such a copy; whether there were any.
pub(super) fn release<'c>(module: &Module<'c>, function: Value<'c>) -> bool {
    let found = loops::innermost(function).into_iter();
    let released = found.filter(|found| {
        whole_warps::release(module, function, found) || release_loop(module, function, found)
    });
    released.count() > 0
}

fn release_loop<'c>(module: &Module<'c>, function: Value<'c>, found: &Loop<'c>) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.instructions());
    if instructions().count() > MOST_INSTRUCTIONS
        || !instructions().all(|i| copies::may_be_copied(i) && !copies::is_meeting(i))
    {
        return false;
    }
    let Some(test) = Test::of(module, found) else {
        return false;
    };
    // An elementwise loop over what a block or a warp has is short: what is tested before it costs more than the checks.
    let is_elementwise = instructions().any(|i| i.opcode() == opcode::STORE);
    let is_of_grid = || test.step.value.is_some_and(|(step, _)| has_blocks(step));
    if is_elementwise && !is_of_grid() {
        return false;
    }
    let checks = check::all(module, found);
    if checks.is_empty() || checks.len() > MOST_CHECKS {
        return false;
    }
    let Some(pass) = passing::put(found, &test, &checks) else {
        return false;
    };
    let passed: Vec<_> = checks
        .iter()
        .map(|check| (check.block, check.next))
        .collect();
    let copy = copies::copy_without(function, found, &test, &passed);
    found.before.terminator().inspect(|jump| jump.erase());
    found.before.push_branch(pass, copy, found.header);
    let latch = found.latch.terminator();
    latch.inspect(|latch| latch.set_loop_property(NOT_TO_UNROLL));
    true
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
