//! How large a loop is.

use super::scopes;
use crate::linker::loops::Loop;
use crate::llvm::{Value, opcode};

/// What tells the machine only where a value is, or of which type.
const FREE: [i32; 7] = [
    opcode::ADDRESS_SPACE_CAST,
    opcode::BIT_CAST,
    opcode::EXTRACT_ELEMENT,
    opcode::EXTRACT_VALUE,
    opcode::FREEZE,
    opcode::INT_TO_PTR,
    opcode::PTR_TO_INT,
];

/// How many instructions a loop has, without those of which the machine has none.
pub(super) fn of(found: &Loop<'_>) -> usize {
    let instructions = found.blocks.iter().flat_map(|block| block.instructions());
    let is_free = |i: &Value<'_>| FREE.contains(&i.opcode()) || scopes::is_scope(*i);
    instructions.filter(|i| !is_free(i)).count()
}

/// The same without those that the machine has as parts of others: what an access adds to an address, and products that are added to something.
pub(super) fn of_whole(found: &Loop<'_>) -> usize {
    let instructions = found.blocks.iter().flat_map(|block| block.instructions());
    let parts = instructions.filter(|i| is_immediate(*i) || is_part_of_fused(*i));
    of(found) - parts.count()
}

/// Whether an address is a constant behind another one, which an access adds by itself.
fn is_immediate(address: Value<'_>) -> bool {
    address.opcode() == opcode::GET_ELEMENT_POINTER
        && (1..address.operand_count())
            .all(|n| address.operand(n).and_then(Value::as_integer).is_some())
}

/// Whether an operation is the product of a fused multiply-add.
fn is_part_of_fused(product: Value<'_>) -> bool {
    product.opcode() == opcode::FMUL
        && matches!(&product.users()[..], &[sum] if matches!(sum.opcode(), opcode::FADD | opcode::FSUB))
}
