//! A second copy of a function's code, for a case that is decided where it begins.

use super::block_copies::Copies;
use crate::llvm::{Attribute, Block, Value, ValueKind, opcode};

/// Where a function forks.
pub(super) struct Fork<'c> {
    /// The first block, with what both copies have in common. It has no end yet.
    pub before: Block<'c>,
    pub original: Block<'c>,
    pub copy: Block<'c>,
}

/// Whether a function has nothing that may be there only once. Stack slots of the first block are of both copies.
pub(super) fn is_possible(function: Value<'_>) -> bool {
    let blocks = function.blocks().into_iter();
    let is_slot = |i: &Value<'_>| i.opcode() == opcode::ALLOCA;
    let mut others = blocks.skip(1).flat_map(Block::instructions);
    !others.any(|i| is_slot(&i)) && !function.instructions().into_iter().any(is_unique)
}

/// Copies a function's code from `first` on, an instruction of the first block behind all stack slots.
pub(super) fn make<'c>(function: Value<'c>, first: Value<'c>) -> Fork<'c> {
    let original = first.block();
    let before = original.split_before(first, function);
    let slots = original.instructions().into_iter();
    slots
        .filter(|i| i.opcode() == opcode::ALLOCA)
        .for_each(|slot| before.push_moved(slot));
    let originals: Vec<_> = function
        .blocks()
        .into_iter()
        .filter(|block| *block != before)
        .collect();
    let pairs = originals
        .iter()
        .map(|block| (*block, function.append_block()));
    let mut copies = Copies::of_blocks(pairs);
    for instruction in originals.iter().flat_map(|block| block.instructions()) {
        copies.push(instruction);
    }
    copies.connect();
    Fork {
        before,
        original,
        copy: copies.block(original),
    }
}

/// Whether an instruction may be there only once. It may be convergent: all threads go through the same copy.
fn is_unique(instruction: Value<'_>) -> bool {
    const UNIQUE: &str = "noduplicate";
    let is_of_function = || {
        let callee = instruction.callee();
        callee.is_some_and(|callee| {
            callee.kind() == ValueKind::Function && callee.has_flag(Attribute::Function, UNIQUE)
        })
    };
    instruction.is_call() && (instruction.has_call_flag(UNIQUE) || is_of_function())
}
