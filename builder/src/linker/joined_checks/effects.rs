//! What may stand between two checks that are made at once.
//!
//! ```text
//! check i; x = load a; store x to shared b; check j      both checks may come first
//! check i; store x to global b;             check j      they may not: the host sees b after a panic of j
//! ```
//!
//! A thread that panics at the second check has not done then what stands between the two. Of a store to shared memory nobody can tell:
//! a thread that panics reaches no barrier any more, and without one no other thread of its block may rely on what it wrote; the other blocks of a cluster may not
//! either, and are stopped by a panic. What is on the thread's own stack nobody else sees. So such stores may be left out, but only before a panic that reads
//! no memory, since it might read what was stored; and never before `thread::exit`, which is no panic: what a thread writes before it leaves is there.

use crate::linker::globals::SHARED;
use crate::linker::panic_sites::HANDLERS;
use crate::linker::spaces::{self, LOCAL};
use crate::linker::stack_slots;
use crate::llvm::{Block, Value, opcode};

/// What is seen of an instruction if its thread panics behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    /// Nothing.
    None,
    /// Something by the thread itself, while it panics.
    OwnMemory,
    /// Something by others, or it waits for them.
    Others,
}

/// The effect of an instruction.
pub(super) fn of(value: Value<'_>) -> Effect {
    const CALLS: [&str; 15] = [
        "llvm.sideeffect",
        "llvm.umin.",
        "llvm.umax.",
        "llvm.smin.",
        "llvm.smax.",
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
    let others_unless = |is_unseen| {
        if is_unseen {
            Effect::None
        } else {
            Effect::Others
        }
    };
    match value.opcode() {
        opcode::CALL if stack_slots::is_lifetime(value) => Effect::OwnMemory,
        opcode::CALL => {
            let assembly = value.called_assembly();
            let only_computes = assembly.is_some_and(|asm| !asm.has_side_effects());
            others_unless(only_computes || value.is_call_of(&CALLS))
        }
        opcode::LOAD => others_unless(!value.is_volatile()),
        opcode::STORE => {
            let is_plain = !value.is_volatile() && !value.is_atomic();
            let to = value.operand(1).filter(|_| is_plain);
            match to.is_some_and(|to| spaces::leads_to_one_of(to, &[SHARED, LOCAL])) {
                true => Effect::OwnMemory,
                false => Effect::Others,
            }
        }
        _ => others_unless(!value.is_atomic_access()),
    }
}

/// Whether a block that ends a thread, or those that it leads to, do it by a panic that reads no memory but the panic log.
pub(super) fn reads_nothing(panic: Block<'_>) -> bool {
    let mut instructions = panic.instructions().into_iter();
    instructions.all(|instruction| match instruction.opcode() {
        opcode::UNREACHABLE | opcode::BRANCH | opcode::PHI => true,
        opcode::CALL => instruction.is_call_of(&HANDLERS) || is_trap(instruction),
        _ => is_plain(instruction),
    }) && panic.successors().into_iter().all(reads_nothing)
}

/// Whether a block does nothing but stop the grid: it is the same one for all that lead to it.
pub(super) fn is_only_trap(block: Block<'_>) -> bool {
    let instructions = block.instructions();
    let (end, traps) = match &instructions[..] {
        [traps @ .., end] => (end, traps),
        [] => return false,
    };
    end.opcode() == opcode::UNREACHABLE
        && !traps.is_empty()
        && traps.iter().all(|instruction| is_trap(*instruction))
}

/// Whether an instruction stops the grid.
fn is_trap(call: Value<'_>) -> bool {
    let assembly = call.called_assembly();
    assembly.is_some_and(|asm| asm.asm_text().trim() == "trap;") || call.is_call_of(&["llvm.trap"])
}

/// Whether an instruction only computes a number, whatever its operands are.
pub(super) fn is_plain(value: Value<'_>) -> bool {
    value.is_plain_arithmetic()
        || value.is_resizing()
        || matches!(value.opcode(), opcode::ICMP | opcode::SELECT)
        || value.is_call_of(&["llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax."])
}
