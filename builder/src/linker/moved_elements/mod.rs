//! Copies the code that moves elements of a local array, for each of the places from which on it does.
//!
//! `found[place..].rotate_right(1)` behind a search is a `memmove` of as many bytes as are behind `place`. Once the search is unrolled, each of its ends
//! has another constant place, but they meet before the elements are moved: a phi chooses the address and another one the length. SROA leaves an
//! array in memory where a copy's length is not constant.
//!
//! ```text
//! move:                                                     move0:
//!   p = phi [a, found0], [a + 4, found1]                      memmove a + 4, a, 8
//!   n = phi [8, found0], [4, found1]                  =>      br behind
//!   memmove p + 4, p, n                                     move1:
//!   br behind                                                 memmove a + 8, a + 4, 4
//!                                                             br behind
//! ```
//!
//! It is done where nothing is left of the array behind it but accesses of constant places, so that all of its elements become registers. Each way
//! then moves no more than its own elements. Stores alone, without such a copy, are a matter of `chosen_slots`.

mod find;
mod ways;

use rustc_hash::FxHashSet as HashSet;

use super::block_copies::Copies;
use super::copies::{FROM, SIZE, TO};
use super::narrow::dominators::Dominators;
use super::offsets::whole;
use super::{long_copies, stack_slots};
use crate::llvm::{Block, Module, Value, opcode};

/// Whether there is an array of which elements are moved.
pub(super) fn are_there(module: &Module<'_>) -> bool {
    let functions = module.functions().into_iter();
    let mut all = functions.flat_map(Value::instructions);
    all.any(|one| one.opcode() == opcode::ALLOCA && find::is_moved_in(module, one))
}

/// Copies all such code; the names of the functions that had some.
pub(super) fn separate(module: &Module<'_>) -> HashSet<String> {
    let mut changed = HashSet::default();
    for function in module.functions() {
        let mut slots = function.instructions();
        slots.retain(|one| one.opcode() == opcode::ALLOCA && find::is_moved_in(module, *one));
        for slot in slots {
            let dominators = Dominators::of(function);
            if let Some(blocks) = find::blocks(module, slot, &dominators) {
                blocks.iter().for_each(|block| copy(*block, function));
                changed.insert(function.name());
            }
        }
    }
    changed
}

/// Joins the ways of such functions again, whose elements are registers by now; whether there were some.
pub(super) fn join(module: &Module<'_>, functions: &HashSet<String>) -> bool {
    let all = module.functions().into_iter();
    let changed = all.filter(|one| functions.contains(&one.name()) && ways::join(*one));
    changed.count() > 0
}

/// Takes apart what is copied from one place of a slot to another one in such functions, whose lengths are constants by now: SROA makes accesses of
/// copies between two slots only.
pub(super) fn split(module: &Module<'_>, functions: &HashSet<String>) {
    for function in module.functions() {
        if functions.contains(&function.name()) {
            let mut slots = function.instructions();
            slots.retain(|one| one.opcode() == opcode::ALLOCA && find::is_small(module, *one));
            slots.iter().for_each(|slot| split_in(module, *slot));
        }
    }
}

fn split_in<'c>(module: &Module<'c>, slot: Value<'c>) {
    for call in find::calls(slot) {
        let is_of_slot = |n| {
            let address = call.operand(n).map(|one| whole(module, one).0);
            address == Some(slot)
        };
        if stack_slots::is_copy(call)
            && is_of_slot(TO)
            && is_of_slot(FROM)
            && let Some(size) = call.operand(SIZE).and_then(Value::as_integer)
        {
            long_copies::split_into_words(call, size);
        }
    }
}

/// Copies a block for each block that leads to it but one, which keeps the original.
fn copy<'c>(block: Block<'c>, function: Value<'c>) {
    let mut before = find::before(block);
    before.pop();
    for from in before {
        let copy = function.append_block();
        let mut copies = Copies::of_blocks([(block, copy)].into_iter());
        for instruction in block.instructions() {
            match instruction.opcode() {
                opcode::PHI => {
                    if let Some(value) = instruction.incoming_from(from) {
                        copies.set(instruction, value);
                    }
                }
                _ => {
                    copies.push_to(copy, instruction);
                }
            }
        }
        for to in block.successors() {
            for phi in to.phis() {
                if let Some(value) = phi.incoming_from(block) {
                    phi.add_incoming(copies.value(value), copy);
                }
            }
        }
        let ends = from.terminator();
        for (n, to) in (0..).zip(from.successors()) {
            if let Some(end) = ends.filter(|_| to == block) {
                end.set_successor(n, copy);
            }
        }
        block.replace_incoming(from, &[]);
    }
    for phi in block.phis() {
        if let [(value, _), ..] = phi.incoming()[..] {
            phi.replace_by(value);
        }
    }
}
