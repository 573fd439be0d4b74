//! Unrolls loops whose number of rounds is dear to compute, such as those that step by the size of the grid.
//!
//! LLVM unrolls a loop after it has computed how many rounds there are: where the step is known only at run time that takes a division of
//! 64-bit numbers, so it leaves such loops alone, and each round waits for its loads. But a loop that goes on while `a < b`, where each round
//! brings the two nearer by the same step, has three more rounds for certain if `b - a` is more than twice that step: then
//! four rounds are made without the tests between them. The original loop follows, for the rounds that are left.
//!
//! ```text
//! if a < b && b - a > 2 * step      // as they are at the end of the first round
//!     do { round; round; round; round } while a < b && b - a > 3 * step
//! do { round } while a < b          // unless no round is left
//! ```
//!
//! Only loops that load from memory are worth it, that are small, and that no thread has to go through together with others. It runs after
//! LLVM's pipeline, which has taken all other loops.

mod copies;
mod steps;

use std::collections::HashSet;

use super::loops::{self, Loop};
use crate::llvm::{Block, Module, Value, opcode};
use steps::Test;

/// How many rounds are made at once.
const ROUNDS: usize = 4;

/// A loop of more instructions has enough to do in each round.
const MOST_INSTRUCTIONS: usize = 48;

/// What follows: the rounds' common parts.
const CLEAN_UP: &str = "function(instcombine<no-verify-fixpoint>,early-cse<memssa>,simplifycfg,\
    instcombine<no-verify-fixpoint>,infer-address-spaces)";

/// Unrolls what is worth it.
pub(super) fn run(module: &Module<'_>) -> Result<(), String> {
    module.run_passes("function(loop-simplify,lcssa)", None)?;
    let mut is_changed = false;
    for function in module.functions() {
        // One after the other: the blocks of the function change.
        let mut done: Vec<Block<'_>> = Vec::new();
        while let Some((found, test)) = next(module, function, &done) {
            done.push(found.header);
            copies::unroll(function, &found, &test);
            is_changed = true;
        }
    }
    match is_changed {
        true => module.run_passes(CLEAN_UP, None),
        false => Ok(()),
    }
}

/// The next loop that is worth it, by the block that it begins with not one of `done`.
fn next<'c>(
    module: &Module<'c>,
    function: Value<'c>,
    done: &[Block<'c>],
) -> Option<(Loop<'c>, Test<'c>)> {
    loops::innermost(function)
        .into_iter()
        .filter(|found| !done.contains(&found.header) && is_worth_it(found))
        .find_map(|found| {
            let test = Test::of(module, &found)?;
            Some((found, test))
        })
}

fn is_worth_it(found: &Loop<'_>) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.instructions());
    let loads = instructions().filter(|i| i.opcode() == opcode::LOAD);
    // The parts of a structure are loaded together.
    let structures: HashSet<_> = loads.filter_map(|i| i.operand(0)).map(whole).collect();
    instructions().count() <= MOST_INSTRUCTIONS
        // Otherwise loads wait for branches, also for those of the rounds before.
        && found.is_straight()
        // As many are under way at once in one round as would be in several of a loop with one.
        && (1..ROUNDS).contains(&structures.len())
        && instructions().all(|i| copies::may_be_copied(i))
}

/// The address that a constant is added to.
fn whole(address: Value<'_>) -> Value<'_> {
    let is_offset = address.is_instruction()
        && address.opcode() == opcode::GET_ELEMENT_POINTER
        && (1..address.operand_count()).all(|n| {
            address
                .operand(n)
                .is_some_and(|index| index.as_integer().is_some())
        });
    match address.operand(0) {
        Some(base) if is_offset => whole(base),
        _ => address,
    }
}
