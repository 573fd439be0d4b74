//! Addresses of elements, in the instructions that a GPU has for them.
//!
//! ```text
//! base + row * stride * size + column * size    as base + (row * stride + column) * size
//! base + index * size                           as a product of 32 bits, added
//! base + (index + 256) * size                   as the same sum, and a constant that becomes part of the access
//! ```
//!
//! LLVM splits the place of an element of a matrix in two steps, so that rows share the first one. Where there is nothing to share, one sum
//! of places takes a multiplication with an addition (`IMAD.WIDE`) and one scaled addition of 64 bits, which is two instructions, in the place of two and an
//! addition. An index that bounds prove to be short takes one instruction (`IMAD.WIDE.U32`) in the place of a scaled addition. That product
//! is inline assembly, for the reason that those of `widths` are.

use super::bounds::{self, MOST_OF_32};
use super::dominators::Dominators;
use super::products;
use super::webs::Extension;
use crate::llvm::{Module, Place, Value, ValueKind, opcode};

/// The address spaces of pointers that have 64 bits on the machine: generic and global ones.
pub(super) const WIDE: [u32; 2] = [0, 1];

/// Whether an instruction is an address of a variable element that is larger than a byte.
pub(super) fn is_element(module: &Module<'_>, instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::GET_ELEMENT_POINTER
        && instruction.operand_count() == 2
        && WIDE.contains(&instruction.address_space())
        && index_of(instruction).is_some_and(|index| index.as_integer().is_none())
        && (2..=MOST_OF_32).contains(&module.size_of(instruction.element_type()))
}

/// Rewrites the addresses of a function.
pub(super) fn run<'c>(module: &Module<'c>, dominators: &Dominators<'c>) {
    let mut elements = dominators.instructions();
    elements.retain(|i| is_element(module, *i));
    let mut made = Vec::new();
    for address in elements {
        if !join(address) {
            shorten(module, address, dominators, &mut made);
        }
    }
}

/// An address that is made of a product of 32 bits.
struct Made<'c> {
    base: Value<'c>,
    index: Value<'c>,
    size: u64,
    address: Value<'c>,
}

/// The index, if it has 64 bits.
fn index_of(address: Value<'_>) -> Option<Value<'_>> {
    let index = address.operand(1)?;
    (index.integer_bits() == Some(64)).then_some(index)
}

/// Adds the places of two steps of which only the second one uses the first; whether it does.
fn join(address: Value<'_>) -> bool {
    let inner = address.operand(0).filter(|inner| {
        inner.kind() == ValueKind::Instruction
            && inner.opcode() == opcode::GET_ELEMENT_POINTER
            && inner.operand_count() == 2
            && inner.element_type() == address.element_type()
            // Elsewhere it may be executed less often.
            && inner.block() == address.block()
            && inner.users()[..] == [address]
    });
    let Some(inner) = inner else {
        return false;
    };
    let (Some(base), Some(first), Some(second)) =
        (inner.operand(0), index_of(inner), index_of(address))
    else {
        return false;
    };
    if !is_product(first) {
        return false;
    }
    let place = Place::before(address);
    let sum = place.binary(opcode::ADD, first, second);
    let element = address.element_type();
    address.replace_by(address.build_address_before(element, base, sum));
    inner.erase();
    true
}

/// Whether an addition to it is part of the instruction that computes it.
fn is_product(value: Value<'_>) -> bool {
    value.kind() == ValueKind::Instruction
        && (value.opcode() == opcode::MUL || products::is_wide(value))
}

/// Multiplies an index of at most 32 bits as such.
fn shorten<'c>(
    module: &Module<'c>,
    address: Value<'c>,
    dominators: &Dominators<'c>,
    made: &mut Vec<Made<'c>>,
) {
    let block = address.block();
    let Some((base, whole)) = address.operand(0).zip(index_of(address)) else {
        return;
    };
    let (index, added) = match sum_with_constant(whole) {
        // The index alone is computed elsewhere, where the code generator does not see that it is short.
        Some((index, added)) if index.kind() == ValueKind::Instruction => (index, added),
        Some(_) => return,
        None => (whole, 0),
    };
    if is_seen(index, address) {
        return;
    }
    let most = bounds::most_at(index, block, dominators);
    if most.is_none_or(|most| most > MOST_OF_32) {
        return;
    }
    let size = module.size_of(address.element_type());
    let place = Place::before(address);
    let byte = place.byte_type();
    let known = made.iter().find(|known| {
        (known.base, known.index, known.size) == (base, index, size)
            && dominators.dominates(known.address.block(), block)
    });
    let of_index = match known {
        Some(known) => known.address,
        None => {
            let short = place.resized(index, 32);
            let factor = place.constant(32, size);
            let bytes = products::wide(place, Extension::Zero, [short, factor]);
            let of_index = address.build_address_before(byte, base, bytes);
            made.push(Made {
                base,
                index,
                size,
                address: of_index,
            });
            of_index
        }
    };
    let result = match added {
        0 => of_index,
        _ => address.build_offset_before(of_index, added.wrapping_mul(size)),
    };
    address.replace_by(result);
}

/// Whether a number is the sum of its operands.
pub(super) fn is_sum(number: Value<'_>) -> bool {
    number.kind() == ValueKind::Instruction
        && match number.opcode() {
            opcode::ADD => true,
            opcode::OR => number.is_disjoint(),
            _ => false,
        }
}

/// A number and the constant that is added to it.
pub(super) fn sum_with_constant(index: Value<'_>) -> Option<(Value<'_>, u64)> {
    let added = is_sum(index)
        .then(|| index.operand(1)?.as_integer())
        .flatten()?;
    Some((index.operand(0)?, added))
}

/// Whether the code generator makes the best of an index by itself: it sees an extension in the same block.
fn is_seen<'c>(index: Value<'c>, address: Value<'c>) -> bool {
    let is_extension = index.kind() == ValueKind::Instruction && index.opcode() == opcode::ZEXT;
    is_extension
        && index.block() == address.block()
        && index.operand(0).and_then(Value::integer_bits) <= Some(32)
}
