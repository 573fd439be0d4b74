//! Unrolls loops whose number of rounds is dear to compute, such as those that step by the size of the grid.
//!
//! LLVM unrolls a loop after it has computed how many rounds there are: where the step is known only at run time that takes a division of
//! 64-bit numbers, so it leaves such loops alone, and each round waits for its loads. But a loop that goes on while `a < b`, where each round
//! brings the two nearer by the same step, has three more rounds for certain if `b - a` is more than twice that step: then
//! four rounds are made without the tests between them. The original loop follows, for the rounds that are left.
//!
//! ```text
//! if a < b && b - a > 2 * step && b >= 3 * step   // as they are at the end of the first round
//!     do { round; round; round; round } while a < b - 3 * step
//! do { round } while a < b                        // unless no round is left
//! ```
//!
//! Only loops that load from memory are worth it, and that are small; those that branch, or store and may leave, only where their loads may be made
//! [early]. Where threads meet in a loop (a barrier, a shuffle), all threads of a block must make as many rounds as each other: the test is computed from
//! what they have in common (`uniform`). Then threads that come to the
//! loop together get the same answer of each test that is made here, go through the same copies, and meet there as they met in the loop; who leaves
//! within a round, as for a panic, leaves as before. LLVM does not unroll these at all where the number of rounds is one of run time.
//!
//! It runs after LLVM's pipeline, which has taken all other loops.

mod checks;
mod conditions;
mod copies;
mod early;
mod guard;
mod last_rounds;
mod rest;
mod rounds;
mod scopes;
mod size;
mod step;
mod steps;

use std::collections::HashSet;

use super::globals::SHARED;
use super::loop_exits;
use super::loops::{self, Loop};
use super::meetings::is_meeting;
use super::offsets::whole;
use super::uniform::Uniform;
use crate::llvm::{Module, Value, opcode};
use early::Early;
pub(super) use steps::NOT_TO_UNROLL;
use steps::Test;

/// How many rounds are made at once.
const ROUNDS: usize = 4;

/// A loop of more instructions has enough to do in each round.
const MOST_INSTRUCTIONS: usize = 48;

/// How many rounds are made at once of a larger loop in which threads meet, and how many instructions that may have: between the operations that wait for
/// other threads there are those of another round.
const FEWER_ROUNDS: usize = 2;
const MOST_INSTRUCTIONS_WITH_MEETINGS: usize = 80;

/// What follows: the rounds' common parts.
const CLEAN_UP: &str = "function(instcombine<no-verify-fixpoint>,early-cse<memssa>,\
    simplifycfg<bonus-inst-threshold=3>,instcombine<no-verify-fixpoint>,infer-address-spaces)";

/// Unrolls what is worth it.
pub(super) fn run(module: &Module<'_>) -> Result<(), String> {
    const SIMPLE_FORM: &str = "function(loop-simplify,lcssa)";
    module.run_passes(SIMPLE_FORM, None)?;
    let functions = module.functions().into_iter();
    let mut is_changed = functions
        .filter(|function| checks::release(module, *function))
        .count()
        > 0;
    if is_changed {
        // Rounds without checks are one block.
        module.run_passes("function(simplifycfg)", None)?;
        module.run_passes(SIMPLE_FORM, None)?;
    }
    for function in module.functions() {
        // None has blocks of another one. Copies of the rounds of a search would have exits of their own.
        for found in loop_exits::without_searches(function, loops::innermost(function)) {
            let is_to_be_unrolled = is_to_be_unrolled(module, function, &found);
            let early = early_loads(module, &found);
            // A check of what was loaded is waited for by the loads of the next round.
            let early = early.filter(|early| !is_to_be_unrolled || early.is_chain());
            if early.is_none() {
                if !is_to_be_unrolled {
                    continue;
                }
                conditions::bring_forward(&found);
            }
            // Of the instructions that are there now.
            let Some(test) = Test::of(module, &found) else {
                continue;
            };
            is_changed = true;
            let rounds = rounds(&found);
            let unrolled = copies::unroll(function, &found, (&test, rounds), early.as_ref());
            let Some(latch) = unrolled else {
                continue;
            };
            if is_enough(module, &found) {
                latch
                    .terminator()
                    .inspect(|latch| latch.set_loop_property(NOT_TO_UNROLL));
            }
            if !has_meetings(&found) {
                rest::group(function, &found, &test);
            }
        }
    }
    match is_changed {
        true => module.run_passes(CLEAN_UP, None),
        false => Ok(()),
    }
}

/// Whether a loop is worth it, and may be unrolled.
fn is_to_be_unrolled<'c>(module: &Module<'c>, function: Value<'c>, found: &Loop<'c>) -> bool {
    // By this test, and by it alone, the copies are gone through or not.
    let is_uniform = |test: &Test<'c>| Uniform::of(function).contains(test.comparison);
    is_worth_it(module, found)
        && Test::of(module, found).is_some_and(|test| !has_meetings(found) || is_uniform(&test))
}

fn is_worth_it<'c>(module: &Module<'c>, found: &Loop<'c>) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.instructions());
    let has_meetings = has_meetings(found);
    let loads = loads(module, found);
    let is_small = match has_meetings {
        true => size::of(found) <= MOST_INSTRUCTIONS_WITH_MEETINGS,
        false => size::of_whole(found) <= MOST_INSTRUCTIONS,
    };
    is_small
        // Otherwise loads wait for branches, also for those of the rounds before. Behind a meeting they wait in any case.
        && (has_meetings || found.is_straight())
        && !loads.is_empty()
        // Otherwise as many are under way at once in one round as would be in several of a loop with one; where threads meet, the next round's are not.
        && (has_meetings || loads.len() < ROUNDS)
        // Otherwise loads wait for the stores of the rounds before, which wait for theirs.
        && (has_meetings || found.blocks.len() == 1 || !instructions().any(|i| i.opcode() == opcode::STORE))
        && instructions().all(copies::may_be_copied)
}

/// How many rounds of a loop are made at once.
fn rounds(found: &Loop<'_>) -> usize {
    match has_meetings(found) && size::of(found) > MOST_INSTRUCTIONS {
        true => FEWER_ROUNDS,
        false => ROUNDS,
    }
}

/// The loads of a loop that its copies make early, if it is worth it; a round may branch then.
fn early_loads<'c>(module: &Module<'c>, found: &Loop<'c>) -> Option<Early<'c>> {
    let instructions = || found.blocks.iter().flat_map(|block| block.instructions());
    let may_be = size::of_whole(found) <= MOST_INSTRUCTIONS
        && found.blocks.len() > 1
        && !has_meetings(found)
        && loads(module, found).len() < ROUNDS
        && instructions().all(copies::may_be_copied);
    Test::of(module, found).filter(|_| may_be)?;
    Early::of(module, found)
}

/// Whether ptxas is kept from making four times as many rounds of the copies. Registers do not hold what several loads a round give then, and each waits
/// for others. Shared memory answers before four rounds are over, and a loop over it seldom has as many as sixteen for each thread of a block.
fn is_enough<'c>(module: &Module<'c>, found: &Loop<'c>) -> bool {
    let loads = loads(module, found);
    loads.len() > 1 || loads.iter().all(|from| from.address_space() == SHARED)
}

/// The addresses that a round loads from; once, if they are the parts of a structure, which are loaded together.
fn loads<'c>(module: &Module<'c>, found: &Loop<'c>) -> HashSet<Value<'c>> {
    let instructions = found.blocks.iter().flat_map(|block| block.instructions());
    let loads = instructions.filter(|i| i.opcode() == opcode::LOAD);
    let addresses = loads.filter_map(|i| i.operand(0));
    addresses.map(|address| whole(module, address).0).collect()
}

/// Whether threads meet in the loop.
fn has_meetings(found: &Loop<'_>) -> bool {
    let mut instructions = found.blocks.iter().flat_map(|block| block.instructions());
    instructions.any(is_meeting)
}
