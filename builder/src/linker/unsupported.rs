//! What LLVM's passes stop at, found before they run: with the function and the line, which LLVM does not say.

use super::untranslatable;
use crate::error::BuildError;
use crate::llvm::{Module, Value, ValueKind, opcode};

/// The widest atomic operation that LLVM has for the GPU.
const WIDEST_ATOMIC: u32 = 64;

/// Looks at every instruction.
pub(super) fn check(module: &Module<'_>) -> Result<(), BuildError> {
    for function in module.functions() {
        for instruction in function.instructions() {
            if let Some(reason) = refusal(instruction) {
                return Err(untranslatable::of(module, instruction, reason));
            }
        }
    }
    Ok(())
}

fn refusal(instruction: Value<'_>) -> Option<&'static str> {
    let accessed = match instruction.opcode() {
        opcode::LOAD => instruction,
        opcode::STORE => instruction.operand(0)?,
        opcode::ATOMIC_RMW | opcode::COMPARE_EXCHANGE => instruction.operand(1)?,
        opcode::CALL => {
            let callee = instruction.callee()?;
            let starts =
                callee.kind() == ValueKind::Function && callee.name().starts_with("llvm.va_start");
            return starts.then_some(
                "functions with a variable number of arguments do not exist on the GPU",
            );
        }
        _ => return None,
    };
    let is_wide = accessed
        .integer_bits()
        .is_some_and(|bits| bits > WIDEST_ATOMIC);
    (is_wide && instruction.is_atomic()).then_some("atomic operations have at most 64 bits")
}
