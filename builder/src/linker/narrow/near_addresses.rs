//! Addresses of elements in shared and local memory take the index of 32 bits where one of 64 is its extension.
//!
//! ```text
//! wide = sext top                        entry: switch operation, push, pop
//! entry: switch operation, push, pop     push: address stack, top
//! push: address stack, wide + 1                offset 4
//! ```
//!
//! Such an address has 32 bits on the machine. `ptxas` finds out, but holds both halves of an index that was extended in another block,
//! and a copy of the lower one.

use super::addresses::sum_with_constant;
use super::products;
use super::webs::Extension;
use crate::llvm::{Module, Place, Value, opcode};

/// The address spaces of shared and local memory.
const NEAR: [u32; 2] = [3, 5];

/// Whether an instruction is an address of a variable element in near memory.
pub(super) fn is_element(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::GET_ELEMENT_POINTER
        && instruction.operand_count() == 2
        && NEAR.contains(&instruction.address_space())
        && short_index(instruction).is_some()
}

/// Rewrites the addresses of a function.
pub(super) fn run<'c>(module: &Module<'c>, function: Value<'c>) {
    for address in function.instructions() {
        if !is_element(address) {
            continue;
        }
        let Some((base, (index, added))) = address.operand(0).zip(short_index(address)) else {
            continue;
        };
        let size = module.size_of(address.element_type());
        if i32::try_from(size).is_err() {
            continue;
        }
        let place = Place::before(address);
        let factor = place.constant(32, size);
        let bytes = products::wide(place, Extension::Sign, [index, factor]);
        let of_index = address.build_address_before(place.byte_type(), base, bytes);
        let offset = added.wrapping_mul(size);
        address.replace_by(match offset {
            0 => of_index,
            _ => address.build_offset_before(of_index, offset),
        });
    }
}

/// The signed index of 32 bits that was extended in another block, and the number of elements that is added to it.
fn short_index<'c>(address: Value<'c>) -> Option<(Value<'c>, u64)> {
    let whole = address.operand(1)?;
    let (extension, added) = sum_with_constant(whole).unwrap_or((whole, 0));
    let index = extension.extended()?;
    let is_signed = extension.opcode() == opcode::SEXT;
    let is_elsewhere = extension.block() != address.block();
    (is_signed && is_elsewhere && index.integer_bits() == Some(32)).then_some((index, added))
}
