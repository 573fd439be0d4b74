//! Loads come before stores to other memory.
//!
//! ```text
//! m = load means, i                    m = load means, i
//! store means, i                       s = load squares, i
//! s = load squares, i                  store means, i
//! store squares, i                     store squares, i
//! ```
//!
//! `*mean = ..; *square = ..` loads each number when it is needed. Neither LLVM nor ptxas moves a load before a store that they do not know to be elsewhere, so it waits for all that the
//! store waits for. What a kernel writes by one parameter is not what it reads by another one: the kernel's record says which parameters are unaliased.
//!
//! LLVM is not told so (see [`records`](super::records)). A load is moved over plain stores and arithmetic of its own block alone: nothing else of the thread is between, and
//! what other threads do at that time they may do before as well.

use rustc_hash::FxHashSet as HashSet;

use super::offsets::whole;
use super::read_only_slices::without_casts;
use super::records::UNALIASED;
use crate::llvm::{Attribute, Block, Module, Value, opcode};

/// How many loads of a block are moved at most: each has a register over the stores.
const MOST: usize = 8;

/// Over how many instructions.
const FARTHEST: usize = 128;

/// Moves such loads of all functions.
pub(super) fn come(module: &Module<'_>) {
    for function in module.functions() {
        let is_unaliased = (0..function.parameter_count()).any(|n| {
            let at = Attribute::Parameter(n);
            function.text_attribute(at, UNALIASED).is_some()
        });
        if is_unaliased {
            let blocks = function.blocks().into_iter();
            blocks.for_each(|block| come_in(module, block));
        }
    }
}

fn come_in<'c>(module: &Module<'c>, block: Block<'c>) {
    let mut all = block.instructions();
    let mut moved = 0;
    for n in 0..all.len() {
        let is_load = all[n].opcode() == opcode::LOAD && is_plain(all[n]);
        if is_load && moved < MOST && move_up(module, &mut all[..=n]) {
            moved += 1;
        }
    }
}

/// Moves the last of these instructions, a load, before the first store that it may come before; tells whether there is one.
fn move_up<'c>(module: &Module<'c>, until: &mut [Value<'c>]) -> bool {
    let Some((&mut load, before)) = until.split_last_mut() else {
        return false;
    };
    // What the address is computed from moves with the load; the other instructions stay in their order.
    let mut along = HashSet::from_iter([load]);
    let mut first = None;
    for (n, &one) in before.iter().enumerate().rev().take(FARTHEST) {
        let is_needed = one.users().iter().any(|user| along.contains(user));
        let is_passed = match one.opcode() {
            _ if is_needed => is_arithmetic(one),
            opcode::STORE => is_plain(one) && is_elsewhere(module, load, one),
            opcode::LOAD => is_plain(one),
            _ => is_arithmetic(one),
        };
        if !is_passed {
            break;
        }
        if is_needed {
            along.insert(one);
        }
        if one.opcode() == opcode::STORE {
            first = Some(n);
        }
    }
    let Some(first) = first else {
        return false;
    };
    let store = until[first];
    let (moved, stay): (Vec<Value<'c>>, Vec<Value<'c>>) =
        until[first..].iter().partition(|one| along.contains(one));
    moved.iter().for_each(|one| one.move_before(store));
    until[first..].copy_from_slice(&[moved, stay].concat());
    true
}

/// Whether a load is of other memory than a store.
fn is_elsewhere<'c>(module: &Module<'c>, load: Value<'c>, store: Value<'c>) -> bool {
    let (Some(from), Some(to)) = (load.operand(0), store.operand(1)) else {
        return false;
    };
    let ((a, start), (b, other)) = (whole(module, from), whole(module, to));
    if a == b {
        let size = |value: Value<'c>| module.size_of(value.ty());
        let stored = store.operand(0).map_or(0, size);
        return start >= other + stored || other >= start + size(load);
    }
    match (parameter(from), parameter(to)) {
        (Some(a), Some(b)) => a != b && (is_unaliased(a) || is_unaliased(b)),
        _ => false,
    }
}

/// The function and the number of the parameter that an address is computed from.
fn parameter(address: Value<'_>) -> Option<(Value<'_>, u32)> {
    let address = without_casts(address);
    if address.is_instruction() && address.opcode() == opcode::GET_ELEMENT_POINTER {
        return parameter(address.operand(0)?);
    }
    address.as_parameter()
}

fn is_unaliased((function, number): (Value<'_>, u32)) -> bool {
    let at = Attribute::Parameter(number);
    function.text_attribute(at, UNALIASED).is_some()
}

fn is_plain(access: Value<'_>) -> bool {
    !access.is_volatile() && !access.is_atomic()
}

/// Whether an instruction only computes its value.
fn is_arithmetic(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        opcode::PHI | opcode::ALLOCA | opcode::STORE | opcode::LOAD => false,
        opcode::CALL => instruction
            .called_assembly()
            .is_some_and(|assembly| !assembly.has_side_effects()),
        _ => !instruction.is_terminator() && !instruction.is_atomic_access(),
    }
}
