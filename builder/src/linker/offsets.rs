//! Addresses that are a constant number of bytes behind another one.

use crate::llvm::{Module, Value, ValueKind, opcode};

/// The address that a constant number of bytes is added to, and that number.
pub(super) fn whole<'c>(module: &Module<'c>, address: Value<'c>) -> (Value<'c>, u64) {
    behind(module, address).unwrap_or((address, 0))
}

/// The variable that a constant address is in, and how many bytes behind its first one.
pub(super) fn in_variable<'c>(module: &Module<'c>, address: Value<'c>) -> Option<(Value<'c>, u64)> {
    if address.kind() == ValueKind::Global {
        return Some((address, 0));
    }
    let is_sum = address.constant_opcode() == Some(opcode::GET_ELEMENT_POINTER);
    let bytes = is_sum.then(|| bytes_behind(module, address))??;
    let (variable, offset) = in_variable(module, address.operand(0)?)?;
    sum(offset, bytes).map(|offset| (variable, offset))
}

fn behind<'c>(module: &Module<'c>, address: Value<'c>) -> Option<(Value<'c>, u64)> {
    let is_sum = address.is_instruction() && address.opcode() == opcode::GET_ELEMENT_POINTER;
    let bytes = is_sum.then(|| bytes_behind(module, address))??;
    let (whole, offset) = whole(module, address.operand(0)?);
    sum(offset, bytes).map(|offset| (whole, offset))
}

/// How many bytes a `getelementptr` by a constant adds. Of a number below zero the product is none.
fn bytes_behind<'c>(module: &Module<'c>, address: Value<'c>) -> Option<u64> {
    let only = (address.operand_count() == 2).then(|| address.operand(1))??;
    let number = only.as_integer()?;
    number.checked_mul(module.size_of(address.element_type()))
}

fn sum(offset: u64, bytes: u64) -> Option<u64> {
    let offset = offset.checked_add(bytes)?;
    (offset <= i64::MAX as u64).then_some(offset)
}
