//! Of two block barriers with no access to memory between, one is removed.
//!
//! `refill` of one shared array behind `sync` of another makes such a pair. Both order the same accesses: those before the first and those
//! after the second. Nothing is removed where the module has a barrier of another kind, with which the number of passes may have to agree
//! (`bar.arrive`), or from which a wait in between may be seen.

use crate::llvm::{Module, Value, opcode};

/// As the device library writes it.
const BARRIER: &str = "bar.sync 0;";

/// Removes what is not needed.
pub(super) fn merge(module: &Module<'_>) {
    let functions = module.functions().into_iter();
    let calls: Vec<Value<'_>> = functions
        .flat_map(|function| function.instructions())
        .filter(|instruction| instruction.called_assembly().is_some())
        .collect();
    if calls.iter().any(|call| is_other_barrier(*call)) {
        return;
    }
    for call in calls.into_iter().filter(|call| is_barrier(*call)) {
        let before = call.block().instructions();
        let before = before.iter().rev().skip_while(|other| **other != call);
        let mut between = before.skip(1).skip_while(|other| is_pure(**other));
        if between.next().is_some_and(|other| is_barrier(*other)) {
            call.erase();
        }
    }
}

fn is_barrier(instruction: Value<'_>) -> bool {
    let asm = instruction.called_assembly();
    asm.is_some_and(|asm| asm.asm_text().trim() == BARRIER)
}

fn is_other_barrier(instruction: Value<'_>) -> bool {
    instruction.called_assembly().is_some_and(|asm| {
        let text = asm.asm_text();
        text.trim() != BARRIER && (text.contains("bar.") || text.contains("barrier."))
    })
}

/// Whether an instruction does nothing but compute from its operands.
fn is_pure(instruction: Value<'_>) -> bool {
    matches!(
        instruction.opcode(),
        opcode::ADD
            | opcode::SUB
            | opcode::MUL
            | opcode::SHL
            | opcode::LSHR
            | opcode::AND
            | opcode::OR
            | opcode::XOR
            | opcode::ZEXT
            | opcode::ICMP
            | opcode::SELECT
            | opcode::GET_ELEMENT_POINTER
    )
}
