//! Copies of 16 aligned bytes become one load and one store of four words.
//!
//! rustc copies a struct such as `Vector<f32>` by `llvm.memcpy`. LLVM replaces such a copy by a load and a store up to
//! eight bytes only; a longer one between registers and memory leaves a stack slot behind where no other access has a
//! matching type, and one between two memories becomes two 8-byte accesses without `.nc`. As a load and a store of
//! `<4 x i32>`, which the hardware has (`ld.v4.b32`), it is seen through like any other access.
//!
//! Copies between memory and a variable are widened before LLVM's pipeline already: once the elements of the variable are read
//! one by one, LLVM would read them so from memory, too, and move the loads apart. The variable need not be aligned for it: until it is in
//! registers it is a stack slot, which can be.

use crate::llvm::{Module, Place, Value, opcode};

/// The size that one instruction moves, and the alignment that it needs.
const VECTOR: u64 = 16;

/// Rewrites every copy of 16 bytes between addresses that are known to be aligned to 16.
pub fn widen(module: &Module<'_>) {
    for copy in vectors(module) {
        if is_aligned(copy, TO) && is_aligned(copy, FROM) {
            replace(copy);
        }
    }
}

/// The same for copies between such an address and a stack slot, which becomes aligned.
pub fn widen_of_slots(module: &Module<'_>) {
    for copy in vectors(module) {
        let slot = match (slot(copy, TO), slot(copy, FROM)) {
            (Some(slot), None) if is_aligned(copy, FROM) => slot,
            (None, Some(slot)) if is_aligned(copy, TO) => slot,
            _ => continue,
        };
        slot.set_alignment(slot.alignment().max(VECTOR as u32));
        replace(copy);
    }
}

/// The operands of a `memcpy(to, from, size, volatile)`; a `memset` has a byte in the place of the second.
pub(super) const TO: u32 = 0;
pub(super) const FROM: u32 = 1;
pub(super) const SIZE: u32 = 2;
pub(super) const VOLATILE: u32 = 3;

/// The copies of one vector.
fn vectors<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let functions = module.functions().into_iter();
    functions
        .filter(|function| function.name().starts_with("llvm.memcpy."))
        .flat_map(Value::calls)
        .filter(|copy| {
            let constant = |n| copy.operand(n).and_then(Value::as_integer);
            constant(SIZE) == Some(VECTOR) && constant(VOLATILE) == Some(0)
        })
        .collect()
}

fn is_aligned(copy: Value<'_>, operand: u32) -> bool {
    copy.call_parameter_alignment(operand) >= VECTOR
}

/// The stack slot of which an operand is the address.
fn slot(copy: Value<'_>, operand: u32) -> Option<Value<'_>> {
    let pointer = copy.operand(operand)?;
    (pointer.is_instruction() && pointer.opcode() == opcode::ALLOCA).then_some(pointer)
}

fn replace(copy: Value<'_>) {
    let (Some(to), Some(from)) = (copy.operand(TO), copy.operand(FROM)) else {
        return;
    };
    let words = Place::before(copy).access_type(VECTOR);
    let load = copy.build_load_before(words, from, VECTOR as u32);
    copy.build_store_before(load, to, VECTOR as u32);
    copy.erase();
}
