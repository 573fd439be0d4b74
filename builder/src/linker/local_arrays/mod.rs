//! Has LLVM unroll the loops that index local arrays, so that the arrays become registers.
//!
//! A local array stays in local memory, which is as slow as global memory, as soon as one index is not a constant. LLVM unrolls a loop of
//! constant rounds where the copies are small, for NVPTX as for other targets; a register file has no such reason. What is unrolled beyond
//! that is chosen here: loops that decide all elements of an array that are accessed. They are marked before LLVM's pipeline, which unrolls
//! marked loops from the inside outwards, and makes values of the array behind it. All that is computed here is which loops are worth it:
//! LLVM finds out by itself whether it may, so that nothing depends on it but speed.

mod needs;
mod nest;

use rustc_hash::FxHashSet as HashSet;

use crate::llvm::{Attribute, Block, Module, Value, opcode};
use nest::Nest;

/// The property of a loop that is to be unrolled fully.
const UNROLL: &str = "llvm.loop.unroll.full";

/// The bytes of an array that can be in registers, of which a thread has 255.
const MOST_BYTES: u64 = 512;

/// The instructions of all copies together, before LLVM makes them simpler: less than half are left as a rule, which the instruction cache
/// holds.
const MOST_INSTRUCTIONS: usize = 6000;

/// Marks what is worth it; tells whether there is anything.
pub(super) fn mark(module: &Module<'_>) -> Result<bool, String> {
    let functions = module.functions().into_iter();
    if !functions.flat_map(slots).any(|slot| is_array(module, slot)) {
        return Ok(false);
    }
    module.run_passes("function(loop-simplify)", None)?;
    let functions = module.functions().into_iter();
    let marked = functions.filter(|function| mark_in(module, *function));
    Ok(marked.count() > 0)
}

fn mark_in(module: &Module<'_>, function: Value<'_>) -> bool {
    let mut slots = slots(function);
    slots.retain(|slot| is_array(module, *slot));
    if slots.is_empty() {
        return false;
    }
    let nest = Nest::of(function);
    let mut unrolled: HashSet<Block<'_>> = HashSet::default();
    for slot in slots {
        let Some(loops) = needs::of(slot, &nest) else {
            continue;
        };
        let more: HashSet<_> = unrolled.union(&loops).copied().collect();
        if nest
            .unrolled_size(module, &more, MOST_INSTRUCTIONS)
            .is_some()
        {
            unrolled = more;
        }
    }
    let mut is_marked = false;
    for header in unrolled {
        let latch = nest
            .begins(header)
            .and_then(|found| found.latch.terminator());
        if let Some(branch) = latch.filter(|branch| branch.loop_properties().is_empty()) {
            branch.set_loop_property(UNROLL);
            is_marked = true;
        }
    }
    is_marked
}

/// The stack slots of a function whose speed matters.
fn slots(function: Value<'_>) -> Vec<Value<'_>> {
    let is_cold = ["cold", "minsize", "optsize"]
        .iter()
        .any(|flag| function.has_flag(Attribute::Function, flag));
    let mut slots = match is_cold {
        true => Vec::new(),
        false => function.instructions(),
    };
    slots.retain(|one| one.opcode() == opcode::ALLOCA);
    slots
}

/// Whether a stack slot is small, and something in it is accessed by a computed index.
fn is_array(module: &Module<'_>, slot: Value<'_>) -> bool {
    let is_one = slot.operand(0).and_then(Value::as_integer) == Some(1);
    let is_small = module.size_of(slot.allocated_type()) <= MOST_BYTES;
    is_one && is_small && is_indexed(slot, 0)
}

fn is_indexed(pointer: Value<'_>, depth: usize) -> bool {
    pointer.users().into_iter().any(|user| {
        let is_constant = |n| user.operand(n).and_then(Value::as_integer).is_some();
        match user.opcode() {
            opcode::PHI => true,
            opcode::GET_ELEMENT_POINTER => {
                !(1..user.operand_count()).all(is_constant)
                    || depth < 4 && is_indexed(user, depth + 1)
            }
            _ => false,
        }
    })
}
