//! What a local array begins with is not stored where it is overwritten before anything of it is read.
//!
//! ```text
//! let mut steps = [[Step::Both; 25]; 25];        // 40 stores of 16 bytes
//! for i in 0..24 { .. steps[i + 1][j + 1] = .. } // each of them
//! while (i, j) != (0, 0) { .. steps[i][j] .. }
//! ```
//!
//! In Rust an array begins with something, where C++ leaves it as it is. An array whose indices are not constant is in local memory, and each thread stores
//! all of it. LLVM takes away a store that another one overwrites, but not one that the rounds of a loop overwrite together, and not what is on a stack above
//! its top.

mod accesses;
mod filled;
mod stacks;

use rustc_hash::FxHashMap as HashMap;

use super::loops::{self, Loop};
use super::narrow::dominators::Dominators;
use crate::llvm::{Module, Value, opcode};
use accesses::{Accesses, Beginning};

/// The smallest array that it is worth it for, in bytes.
const LEAST_BYTES: u64 = 16;

/// The largest array that is looked into.
const MOST_BYTES: u64 = 16384;

/// Leaves such stores out in all functions.
pub(super) fn leave_out(module: &Module<'_>) -> Result<(), String> {
    for function in module.functions() {
        if !arrays(module, function).is_empty() {
            module.run_passes_on(function, loops::SIMPLIFY)?;
            leave_out_in(module, function);
        }
    }
    Ok(())
}

/// The arrays of a function with something to begin with.
fn arrays<'c>(module: &Module<'c>, function: Value<'c>) -> Vec<Accesses<'c>> {
    let slots = function.instructions().into_iter();
    let slots = slots.filter(|one| one.opcode() == opcode::ALLOCA);
    let arrays = slots.filter_map(|slot| {
        let is_one = slot.operand(0).and_then(Value::as_integer) == Some(1);
        let size = module.size_of(slot.allocated_type());
        let is_to_be = is_one && (LEAST_BYTES..=MOST_BYTES).contains(&size);
        is_to_be.then(|| Accesses::of(module, slot, size))?
    });
    let begin = |array: &Accesses<'c>| {
        let bytes = array.beginnings.iter().map(|beginning| beginning.bytes);
        bytes.sum::<u64>() >= LEAST_BYTES
    };
    arrays.filter(begin).collect()
}

fn leave_out_in<'c>(module: &Module<'c>, function: Value<'c>) {
    let dominators = Dominators::of(function);
    let loops = loops::all(function);
    for array in arrays(module, function) {
        if !leave_out_filled(module, &dominators, &loops, &array) {
            leave_out_above(module, &dominators, &array);
        }
    }
}

/// Leaves out what the rounds of a loop overwrite; whether they do.
fn leave_out_filled<'c>(
    module: &Module<'c>,
    dominators: &Dominators<'c>,
    loops: &[Loop<'c>],
    array: &Accesses<'c>,
) -> bool {
    for found in loops {
        let before = |beginning: &&Beginning<'c>| {
            dominators.dominates(beginning.instruction.block(), found.before)
        };
        let beginnings: Vec<_> = array.beginnings.iter().filter(before).collect();
        if beginnings.is_empty() {
            continue;
        }
        if let Some(overwritten) = filled::before_reads(module, dominators, loops, (found, array)) {
            for beginning in beginnings {
                beginning.leave_out(&overwritten);
            }
            // Those that are left are not as they were found.
            return true;
        }
    }
    false
}

/// Leaves out what an array that is used as a stack begins with above its first top. It may begin in several blocks: those of a kernel's versions.
fn leave_out_above<'c>(module: &Module<'c>, dominators: &Dominators<'c>, array: &Accesses<'c>) {
    // Of all of them before the first is left out, as those are accesses, too.
    let mut above: HashMap<_, Option<Vec<bool>>> = HashMap::default();
    for beginning in &array.beginnings {
        let block = beginning.instruction.block();
        above.entry(block).or_insert_with(|| {
            let read = stacks::read_from_start(module, dominators, array, block)?;
            Some((0..array.size).map(|byte| byte >= read).collect())
        });
    }
    for beginning in &array.beginnings {
        if let Some(above) = &above[&beginning.instruction.block()] {
            beginning.leave_out(above);
        }
    }
}
