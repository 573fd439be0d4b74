//! Addresses that are a constant number of bytes behind another one.

use crate::llvm::{Module, Value, opcode};

/// The address that a constant number of bytes is added to, and that number.
pub(super) fn whole<'c>(module: &Module<'c>, address: Value<'c>) -> (Value<'c>, u64) {
    behind(module, address).unwrap_or((address, 0))
}

fn behind<'c>(module: &Module<'c>, address: Value<'c>) -> Option<(Value<'c>, u64)> {
    let is_offset = address.is_instruction()
        && address.opcode() == opcode::GET_ELEMENT_POINTER
        && address.operand_count() == 2;
    if !is_offset {
        return None;
    }
    // Of a number below zero the product is none.
    let number = address.operand(1)?.as_integer()?;
    let bytes = number.checked_mul(module.size_of(address.element_type()))?;
    let (whole, offset) = whole(module, address.operand(0)?);
    let offset = offset.checked_add(bytes)?;
    (offset <= i64::MAX as u64).then_some((whole, offset))
}
