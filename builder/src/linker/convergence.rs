//! Marks what must stay where the source puts it as `convergent`, before LLVM's first pass.
//!
//! An operation in which threads meet (a barrier, a shuffle, a vote, a warp-wide matrix product) means
//! something else when it moves into or out of a branch. rustc tells LLVM nothing of this. So every
//! function and every call gets the attribute, as clang does for CUDA; LLVM takes it off again from
//! functions that turn out not to need it. Inline assembly is marked by its instructions, so that plain
//! arithmetic in `asm!` stays free to move.

use crate::linker::template::{Statement, statements};
use crate::llvm::{Attribute, Module, ValueKind};
use warpsmith_isa::effect::Convergence;
use warpsmith_isa::forms_of;

/// Whether an assembly template holds an instruction in which threads meet.
pub fn is_convergent_asm(template: &str) -> bool {
    statements(template).any(is_convergent)
}

/// Whether threads meet in an instruction of a template.
pub(super) fn is_convergent(statement: Statement<'_>) -> bool {
    match statement.form() {
        Some(form) => form.convergence() != Convergence::Independent,
        // The tables lack it; an unknown form of an instruction in which threads meet is taken for another one of these.
        None => {
            statement.has("sync")
                || statement.has("aligned")
                || forms_of(statement.opcode())
                    .any(|form| form.convergence != Convergence::Independent)
        }
    }
}

/// Marks functions, calls and assembly of the whole module.
pub fn mark(module: &Module<'_>) {
    for function in module.functions() {
        if function.is_intrinsic() {
            continue; // LLVM knows its own
        }
        function.add_flag(Attribute::Function, "convergent");
        for instruction in function.instructions() {
            if !instruction.is_call() {
                continue;
            }
            let Some(callee) = instruction.callee() else {
                continue;
            };
            let convergent = match callee.kind() {
                ValueKind::InlineAsm => is_convergent_asm(&callee.asm_text()),
                ValueKind::Function => !callee.is_intrinsic(),
                _ => true, // through a pointer: anything may be behind it
            };
            if convergent {
                instruction.add_call_flag("convergent");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_meet_in_these() {
        for asm in [
            "bar.sync 0;",
            "barrier.cta.sync.aligned 0;",
            "shfl.sync.idx.b32 $0, $1, $2, 31, -1;",
            "{ .reg .pred p; setp.ne.u32 p, $1, 0; vote.sync.ballot.b32 $0, p, -1; }",
            "@p bar.sync 0;",
            "mov.u32 $0, $1;\n\tmatch.any.sync.b32 $0, $1, $2;",
            "activemask.b32 $0;",
            "elect.sync _|p, -1;",
            "wgmma.fence.sync.aligned;",
            "LAB: bar.sync 1;",
            "barrier.cluster.arrive.aligned;",
            "barrier.cluster.wait;",
            "exit;",
        ] {
            assert!(is_convergent_asm(asm), "{asm}");
        }
    }

    #[test]
    fn these_are_free_to_move() {
        for asm in [
            "fma.rn.f32 $0, $1, $2, $3;",
            "mov.u32 $0, %tid.x;",
            "{ .reg .pred p; setp.ne.u32 p, $1, 0; selp.u32 $0, 1, 0, p; }",
            "mbarrier.init.shared.b64 [$0], $1;",
            "ld.global.nc.f32 $0, [$1];",
            "exitcode $0;",
        ] {
            assert!(!is_convergent_asm(asm), "{asm}");
        }
    }
}
