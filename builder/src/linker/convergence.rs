//! Marks what must stay where the source puts it as `convergent`, before LLVM's first pass.
//!
//! An operation in which threads meet (a barrier, a shuffle, a vote, a warp-wide matrix product) means
//! something else when it moves into or out of a branch. rustc tells LLVM nothing of this. So every
//! function and every call gets the attribute, as clang does for CUDA; LLVM takes it off again from
//! functions that turn out not to need it. Inline assembly is marked by its instructions, so that plain
//! arithmetic in `asm!` stays free to move.

use crate::llvm::{Attribute, Module, ValueKind};

/// Beginnings of PTX instructions in which threads meet.
const CONVERGENT: &[&str] = &[
    "bar.",
    "barrier.",
    "shfl",
    "vote",
    "match.",
    "redux",
    "activemask",
    "elect",
    "mma.",
    "wmma.",
    "ldmatrix",
    "stmatrix",
    "movmatrix",
    "wgmma",
    "setmaxnreg",
    "tcgen05",
    "griddepcontrol",
    "exit",
    "trap",
    "brkpt",
];

/// Modifiers with the same meaning on any instruction.
const CONVERGENT_MODIFIERS: &[&str] = &[".sync", ".aligned", ".cluster.arrive", ".cluster.wait"];

/// Whether an assembly template holds an instruction in which threads meet.
pub fn is_convergent_asm(template: &str) -> bool {
    instructions(template).any(|mnemonic| {
        CONVERGENT.iter().any(|start| {
            mnemonic == start.trim_end_matches('.')
                || mnemonic.starts_with(start) && is_whole_word(mnemonic, start)
        }) || CONVERGENT_MODIFIERS
            .iter()
            .any(|modifier| mnemonic.contains(modifier))
    })
}

fn is_whole_word(mnemonic: &str, start: &str) -> bool {
    start.ends_with('.')
        || mnemonic[start.len()..].starts_with('.')
        || mnemonic.len() == start.len()
}

/// The mnemonics of a template: the first word of each statement, after labels, predicates and braces.
pub(crate) fn instructions(template: &str) -> impl Iterator<Item = &str> {
    template
        .split([';', '\n', '{', '}'])
        .filter_map(|statement| {
            let mut rest = statement.trim_start();
            if rest.starts_with('@') {
                rest = rest.split_once(char::is_whitespace)?.1.trim_start();
            }
            if let Some((label, after)) = rest.split_once(':')
                && label
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_$%".contains(c))
            {
                rest = after.trim_start();
            }
            rest.split([' ', '\t', '('])
                .next()
                .filter(|word| !word.is_empty())
        })
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
