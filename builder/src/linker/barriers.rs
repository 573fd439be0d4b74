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
    if has_others(module) {
        return;
    }
    let calls: Vec<Value<'_>> = assembly(module).collect();
    for call in calls.into_iter().filter(|call| is_barrier(*call)) {
        let before = call.block().instructions();
        let before = before.iter().rev().skip_while(|other| **other != call);
        let mut between = before.skip(1).skip_while(|other| is_pure(**other));
        if between.next().is_some_and(|other| is_barrier(*other)) {
            call.erase();
        }
    }
}

/// All calls of inline assembly.
fn assembly<'c>(module: &Module<'c>) -> impl Iterator<Item = Value<'c>> {
    let functions = module.functions().into_iter();
    let instructions = functions.flat_map(|function| function.instructions());
    instructions.filter(|instruction| instruction.called_assembly().is_some())
}

/// Whether a module has a barrier of another kind, or what goes on while its threads do other things and is waited for.
pub(super) fn has_others(module: &Module<'_>) -> bool {
    assembly(module).any(is_other_barrier)
}

/// Whether an instruction is the barrier of all threads of a block.
pub(super) fn is_barrier(instruction: Value<'_>) -> bool {
    let asm = instruction.called_assembly();
    asm.is_some_and(|asm| asm.asm_text().trim() == BARRIER)
}

fn is_other_barrier(instruction: Value<'_>) -> bool {
    instruction.called_assembly().is_some_and(|asm| {
        let text = asm.asm_text();
        let words = ["bar.", "barrier.", "async"];
        text.trim() != BARRIER && words.iter().any(|word| text.contains(word))
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
