//! What is stored first and overwritten on one way is stored on the other ways alone.
//!
//! ```text
//! *out = 0                             branch is_inside, next, else
//! branch is_inside, next, end          next: *out = edge(..); jump end
//! next: *out = edge(..); jump end      else: *out = 0; jump end
//! ```
//!
//! LLVM does so where the second store stands in the block that the branch leads to, and nothing decides whether it comes. Here the first one may be in
//! the way of what decides. Between the two may stand what accesses no memory that threads write; a way on which the thread panics, or goes round in a
//! loop, keeps the first store.

use std::collections::HashMap;

use super::globals;
use super::joined_conditions;
use super::needless_barriers::accesses_nothing;
use super::stack_slots;
use crate::llvm::{Block, Module, Value, opcode};

/// What follows: what is stored on several ways to one place is stored there.
const CLEAN_UP: &str = "function(simplifycfg<sink-common-insts>)";

/// Moves such stores of all functions. Conditions that they stood between decide one branch then.
pub(super) fn delay(module: &Module<'_>) -> Result<(), String> {
    let mut is_changed = false;
    for function in module.functions() {
        for block in function.blocks() {
            is_changed |= delay_last(function, block);
        }
    }
    if is_changed {
        module.run_passes(CLEAN_UP, None)?;
        joined_conditions::join(module);
        module.run_passes(CLEAN_UP, None)?;
    }
    Ok(())
}

/// Moves the last store of a block, if it is overwritten on one of the two ways behind the block.
fn delay_last<'c>(function: Value<'c>, block: Block<'c>) -> bool {
    let mut instructions = block.instructions();
    let Some(branch) = instructions.pop() else {
        return false;
    };
    let [one, other]: [Block<'c>; 2] = match branch.successors().try_into() {
        Ok(ways) if branch.opcode() == opcode::BRANCH => ways,
        _ => return false,
    };
    let mut backwards = instructions.into_iter().rev();
    let mut behind = Vec::new();
    let store = backwards.find(|i| {
        behind.push(*i);
        !accesses_nothing(*i)
    });
    let Some(store) = store.filter(|store| is_plain_store(*store)) else {
        return false;
    };
    behind.pop();
    if one == other || !behind.into_iter().all(|i| is_unaware(i, store)) {
        return false;
    }
    for (n, (over, kept)) in [(1, (one, other)), (0, (other, one))] {
        let is_over = is_overwritten(store, over, &mut HashMap::from([(block, false)]));
        if is_over && kept.phis().is_empty() {
            let between = function.append_block();
            between.push_moved(store);
            between.push_jump(kept);
            branch.set_successor(n, between);
            return true;
        }
    }
    false
}

fn is_plain_store(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::STORE && !(instruction.is_volatile() || instruction.is_atomic())
}

/// Whether all ways from a block come to a store to the same place before anything could tell that there was none before. `passed` says so of the
/// blocks that are known, and that it is not so of those that a way may lead round to.
fn is_overwritten<'c>(
    store: Value<'c>,
    block: Block<'c>,
    passed: &mut HashMap<Block<'c>, bool>,
) -> bool {
    if let Some(known) = passed.get(&block) {
        return *known;
    }
    passed.insert(block, false);
    for instruction in block.instructions() {
        // From here on the pointer is one of the next round.
        if store.operand(1) == Some(instruction) {
            return false;
        }
        if is_plain_store(instruction) && overwrites(instruction, store) {
            passed.insert(block, true);
            return true;
        }
        if !is_unaware(instruction, store) {
            return false;
        }
    }
    let ways = block.successors();
    let is_over = !ways.is_empty() && ways.into_iter().all(|to| is_overwritten(store, to, passed));
    passed.insert(block, is_over);
    is_over
}

/// Whether an instruction accesses nothing that a store may write. The thread's own memory is such a thing where the pointer may lead there.
fn is_unaware<'c>(instruction: Value<'c>, store: Value<'c>) -> bool {
    let is_shared_by_threads = || {
        let space = store.operand(1).map(Value::address_space);
        space.is_some_and(|space| [globals::GLOBAL, globals::SHARED].contains(&space))
    };
    let may_be_of_own = [opcode::LOAD, opcode::STORE].contains(&instruction.opcode())
        || stack_slots::is_lifetime(instruction);
    accesses_nothing(instruction) && (!may_be_of_own || is_shared_by_threads())
}

/// Whether a store writes all bytes of another one.
fn overwrites(second: Value<'_>, first: Value<'_>) -> bool {
    let ty = |store: Value<'_>| store.operand(0).map(|value| value.ty());
    second.operand(1) == first.operand(1) && ty(second) == ty(first)
}
