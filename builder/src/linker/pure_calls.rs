//! Calls of LLVM's intrinsics that access no memory and order nothing.

use crate::llvm::{Value, ValueKind};

/// Those that only compute a number, whatever their arguments are.
pub(super) const ARITHMETIC: [&str; 4] = ["llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax."];

/// The others.
const OTHERS: [&str; 10] = [
    "llvm.abs.",
    "llvm.fma.",
    "llvm.fmuladd.",
    "llvm.minnum.",
    "llvm.maxnum.",
    "llvm.sqrt.",
    "llvm.fabs.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.nvvm.read.ptx.sreg.",
];

/// Whether an instruction is such a call.
pub(super) fn is_pure(instruction: Value<'_>) -> bool {
    is_of(instruction, &ARITHMETIC) || is_of(instruction, &OTHERS)
}

/// Whether an instruction is a call of a function whose name begins so.
pub(super) fn is_of(instruction: Value<'_>, names: &[&str]) -> bool {
    let callee = instruction
        .is_call()
        .then(|| instruction.callee())
        .flatten();
    let function = callee.filter(|callee| callee.kind() == ValueKind::Function);
    function.is_some_and(|function| {
        let name = function.name();
        names.iter().any(|known| name.starts_with(known))
    })
}
