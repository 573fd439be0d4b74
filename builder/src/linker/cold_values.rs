//! What only panics tell is computed where they do.
//!
//! ```text
//! wide = sext top                          branch top < 16, next, panic
//! branch top < 16, next, panic             panic: wide = sext top
//! panic: panic_at place, 16, wide                 panic_at place, 16, wide
//! ```
//!
//! LLVM moves a value to its only user. An index that several checks tell of is computed once, on the way that all threads go. Here each
//! panic gets a copy, if it takes one register to compute it: then no more are held for the panic than before.

use rustc_hash::FxHashSet as HashSet;

use crate::llvm::{Block, Module, Value, opcode};

/// Moves all such values.
pub(super) fn sink(module: &Module<'_>) {
    for function in module.functions() {
        let blocks = function.blocks();
        let cold = cold(&blocks);
        // A value's operands after the value: they may have no other user then.
        for &block in blocks.iter().rev().filter(|block| !cold.contains(block)) {
            for value in block
                .instructions()
                .into_iter()
                .rev()
                .filter(|i| is_plain(*i))
            {
                // LLVM would take one without users for the copies of it below.
                if value.is_unused() {
                    value.erase();
                } else if is_moved(value, &cold) {
                    move_to_users(value);
                }
            }
        }
    }
}

/// The blocks from which only panics are reached.
pub(super) fn cold<'c>(blocks: &[Block<'c>]) -> HashSet<Block<'c>> {
    let ends = blocks.iter().copied().filter(|block| block.is_dead_end());
    let mut cold: HashSet<_> = ends.collect();
    loop {
        let before = cold.len();
        for &block in blocks {
            let to = block.successors();
            if !to.is_empty() && to.iter().all(|to| cold.contains(to)) {
                cold.insert(block);
            }
        }
        if cold.len() == before {
            return cold;
        }
    }
}

/// Whether an instruction only computes, by one instruction of PTX.
fn is_plain(value: Value<'_>) -> bool {
    value.is_plain_arithmetic() || value.is_resizing() || value.opcode() == opcode::ASHR
}

fn is_moved<'c>(value: Value<'c>, cold: &HashSet<Block<'c>>) -> bool {
    let operands = (0..value.operand_count()).filter_map(|n| value.operand(n));
    let held: HashSet<_> = operands.filter(|o| o.as_integer().is_none()).collect();
    held.len() <= 1
        && value
            .users()
            .into_iter()
            .all(|user| is_cold(user, value, cold))
}

/// Whether an instruction uses a value only on the way to a panic.
fn is_cold<'c>(user: Value<'c>, value: Value<'c>, cold: &HashSet<Block<'c>>) -> bool {
    if user.opcode() == opcode::PHI {
        let mut incoming = user.incoming().into_iter();
        return incoming.all(|(from, block)| from != value || cold.contains(&block));
    }
    cold.contains(&user.block())
}

/// Gives each place that uses a value a copy of its own.
fn move_to_users(value: Value<'_>) {
    for user in value.users() {
        if user.opcode() == opcode::PHI {
            copy_for_phi(value, user);
            continue;
        }
        let copy = user.build_copy_before(value);
        for n in (0..user.operand_count()).filter(|n| user.operand(*n) == Some(value)) {
            user.set_operand(n, copy);
        }
        // A second use by the same instruction has had its copy already.
        if copy.is_unused() {
            copy.erase();
        }
    }
    if value.is_unused() {
        value.erase();
    }
}

/// Copies a value to the ends of the blocks from which a phi takes it: several ways from one block bring the same copy.
fn copy_for_phi<'c>(value: Value<'c>, phi: Value<'c>) {
    let mut copies: Vec<(Block<'c>, Value<'c>)> = Vec::new();
    for (n, (from, block)) in (0..).zip(phi.incoming()) {
        if from != value {
            continue;
        }
        let known = copies.iter().find(|(known, _)| *known == block);
        let copy = match (known, block.terminator()) {
            (Some((_, copy)), _) => *copy,
            (None, Some(end)) => end.build_copy_before(value),
            (None, None) => continue,
        };
        copies.push((block, copy));
        phi.set_operand(n, copy);
    }
}
