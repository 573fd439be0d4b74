//! Gives each check a panic of its own.
//!
//! ```text
//! 1: branch i < n, 2, panic                     1: branch i < n, 2, panic_i
//! 2: branch j < n, 3, panic                     2: branch j < n, 3, panic_j
//! panic: at = phi i from 1, j from 2            panic_i: panic_at place, n, i
//!        panic_at place, n, at                  panic_j: panic_at place, n, j
//! ```
//!
//! The rounds of an unrolled loop panic at one place, so they lead to one block, in which phis choose what is told. Copies cost nothing: `panic_tails`
//! makes one of all panics of a function in any case.

use std::collections::HashMap;

use super::effects;
use crate::linker::panic_sites::HANDLERS;
use crate::llvm::{Block, Value, opcode};

/// Copies the panics of a function to which several checks lead.
pub(super) fn give(function: Value<'_>) {
    let blocks = function.blocks();
    for &panic in &blocks {
        let ends = panic.terminator().map(Value::opcode) == Some(opcode::UNREACHABLE);
        if ends && panics_at_place(panic) && effects::reads_nothing(panic) {
            copy_for_all(function, panic, &ways_to(&blocks, panic));
        }
    }
}

fn panics_at_place(panic: Block<'_>) -> bool {
    let mut instructions = panic.instructions().into_iter();
    instructions.any(|instruction| effects::is_call_of(instruction, &HANDLERS))
}

/// The edges that lead to a block: what they begin with, and which of its successors the block is.
fn ways_to<'c>(blocks: &[Block<'c>], to: Block<'c>) -> Vec<(Block<'c>, u32)> {
    let ways = blocks.iter().flat_map(|&from| {
        let ways = (0..).zip(from.successors());
        ways.filter(move |(_, successor)| *successor == to)
            .map(move |(n, _)| (from, n))
    });
    ways.collect()
}

/// Gives all edges but one a copy of the panic, and that one the panic itself.
fn copy_for_all<'c>(function: Value<'c>, panic: Block<'c>, ways: &[(Block<'c>, u32)]) {
    let [(kept, _), others @ ..] = ways else {
        return;
    };
    let are_checks = ways.iter().all(|(from, n)| {
        let is_branch = |end: Value<'_>| end.opcode() == opcode::BRANCH;
        let is_only_way = |(m, to): (u32, Block<'c>)| m == *n || to != panic;
        from.terminator().is_some_and(is_branch) && (0..).zip(from.successors()).all(is_only_way)
    });
    if !are_checks {
        return;
    }
    for (from, n) in others {
        let copy = function.append_block();
        let mut values: HashMap<Value<'c>, Value<'c>> = HashMap::new();
        for instruction in panic.instructions() {
            let value = match instruction.opcode() {
                opcode::PHI => instruction.incoming_from(*from),
                _ => Some(copy.push_copy(instruction)),
            };
            if let Some(value) = value {
                values.insert(instruction, value);
            }
        }
        for instruction in copy.instructions() {
            for n in 0..instruction.operand_count() {
                let operand = instruction.operand(n);
                if let Some(value) = operand.and_then(|operand| values.get(&operand)) {
                    instruction.set_operand(n, *value);
                }
            }
        }
        if let Some(end) = from.terminator() {
            end.set_successor(*n, copy);
        }
    }
    for phi in panic.phis() {
        if let Some(value) = phi.incoming_from(*kept) {
            phi.replace_uses_with(value);
            phi.erase();
        }
    }
}
