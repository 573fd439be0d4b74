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
