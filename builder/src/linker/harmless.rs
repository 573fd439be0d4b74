//! Which instructions may be executed where their results are not used.

use crate::llvm::{Value, opcode};

/// Whether an instruction is one that only computes, whatever its operands are.
pub(super) fn is_harmless(instruction: Value<'_>) -> bool {
    let is_plain = instruction.is_plain_arithmetic()
        || instruction.is_resizing()
        || matches!(
            instruction.opcode(),
            opcode::ASHR
                | opcode::ICMP
                | opcode::FCMP
                | opcode::SELECT
                | opcode::FREEZE
                | opcode::GET_ELEMENT_POINTER
                | opcode::ADDRESS_SPACE_CAST
                | opcode::BIT_CAST
                | opcode::FADD
                | opcode::FSUB
                | opcode::FMUL
                | opcode::FNEG
                | opcode::FP_TRUNC
                | opcode::FP_EXTEND
                | opcode::UI_TO_FP
                | opcode::SI_TO_FP
        );
    const PLAIN_CALLS: [&str; 8] = [
        "llvm.sqrt.",
        "llvm.fma.",
        "llvm.fabs.",
        "llvm.minnum.",
        "llvm.maxnum.",
        "llvm.abs.",
        "llvm.umin.",
        "llvm.umax.",
    ];
    is_plain || instruction.is_call_of(&PLAIN_CALLS)
}
