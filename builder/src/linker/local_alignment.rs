//! A thread's own arrays start at a multiple of 16 bytes, so that they are filled and copied by 128 bits.
//!
//! `[u32; 16]` asks for four bytes. Local memory is each thread's alone, and nothing is gained by a tighter place.

use crate::llvm::{Block, Module, opcode};

/// The widest access, in bytes.
const WIDEST: u32 = 16;

/// Aligns the stack slots that are large enough for it.
pub(super) fn raise(module: &Module<'_>) {
    for function in module.functions() {
        let slots = function.blocks().into_iter().take(1);
        for slot in slots.flat_map(Block::instructions) {
            if slot.opcode() == opcode::ALLOCA
                && module.size_of(slot.allocated_type()) >= u64::from(WIDEST)
                && slot.alignment() < WIDEST
            {
                slot.set_alignment(WIDEST);
            }
        }
    }
}
