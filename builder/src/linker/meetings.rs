//! Instructions that threads execute together: no pass may let some of them come there without the others.

use crate::llvm::{Attribute, Value, ValueKind, opcode};

/// Whether threads meet at an instruction.
pub(super) fn is_meeting(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::CALL
        && (instruction.has_call_flag("convergent")
            || instruction.callee().is_some_and(|callee| {
                callee.kind() == ValueKind::Function
                    && callee.has_flag(Attribute::Function, "convergent")
            }))
}
