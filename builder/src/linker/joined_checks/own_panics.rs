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

use rustc_hash::FxHashMap as HashMap;

use super::effects;
use crate::linker::block_copies::Copies;
use crate::linker::panic_sites::HANDLERS;
use crate::llvm::{Block, Value, opcode};

/// Copies the panics of a function to which several checks lead.
pub(super) fn give(function: Value<'_>) {
    let blocks = function.blocks();
    let ways = Ways::of(&blocks);
    for &panic in &blocks {
        if panic.is_dead_end() && panics_at_place(panic) && effects::reads_nothing(panic) {
            // Those of other panics stay as they are.
            copy_for_all(function, panic, ways.to(panic));
        }
    }
}

/// The edges that lead to each block: what they begin with, and which of its successors the block is.
struct Ways<'c>(HashMap<Block<'c>, Vec<(Block<'c>, u32)>>);

impl<'c> Ways<'c> {
    fn of(blocks: &[Block<'c>]) -> Ways<'c> {
        let mut ways: HashMap<_, Vec<_>> = HashMap::default();
        for &from in blocks {
            for (n, to) in (0..).zip(from.successors()) {
                ways.entry(to).or_default().push((from, n));
            }
        }
        Ways(ways)
    }

    fn to(&self, block: Block<'c>) -> &[(Block<'c>, u32)] {
        self.0.get(&block).map_or(&[], Vec::as_slice)
    }
}

fn panics_at_place(panic: Block<'_>) -> bool {
    let mut instructions = panic.instructions().into_iter();
    instructions.any(|instruction| instruction.is_call_of(&HANDLERS))
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
        let mut copies = Copies::default();
        for instruction in panic.instructions() {
            if instruction.opcode() != opcode::PHI {
                copies.push_to(copy, instruction);
            } else if let Some(value) = instruction.incoming_from(*from) {
                copies.set(instruction, value);
            }
        }
        if let Some(end) = from.terminator() {
            end.set_successor(*n, copy);
        }
    }
    for phi in panic.phis() {
        if let Some(value) = phi.incoming_from(*kept) {
            phi.replace_by(value);
        }
    }
}
