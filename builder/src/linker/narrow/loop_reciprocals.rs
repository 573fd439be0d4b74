//! What is computed once for all divisions by one number is computed before the loop that divides.
//!
//! ```text
//!                                              r = reciprocal n
//! round: if i < length                         round: if i < length
//!          q = quotient x, n, reciprocal n              q = quotient x, n, r
//! ```
//!
//! A division of run time begins with the divisor's reciprocal, some eight instructions with an approximation that has few units. It is inline assembly, which LLVM
//! does not execute earlier than it is reached: behind a check of bounds it stays in the loop. It only computes, and gives some number for each divisor.

use super::dominators::Dominators;
use crate::linker::loops::{self, Loop};
use crate::llvm::{Module, Value};

/// What `quotients` makes reciprocals by.
const RECIPROCAL: &str = "cvt.rp.f32.u32 %x, $1; rcp.approx.ftz.f32 %x, %x;";

/// What follows: several divisions may have had one each.
const COMMON: &str = "early-cse";

/// How many operations make the divisor of what is known before the loop.
const DEPTH: u32 = 3;

/// Moves all reciprocals that the rounds of a loop have in common.
pub(super) fn hoist(module: &Module<'_>) -> Result<(), String> {
    for function in module.functions() {
        let all = function.instructions().into_iter();
        let all: Vec<_> = all.filter(|i| is_reciprocal(*i)).collect();
        if all.is_empty() {
            continue;
        }
        let dominators = Dominators::of(function);
        let loops = loops::all(function);
        let mut is_any = false;
        for reciprocal in all {
            // From the innermost loop outwards.
            while let Some(of) = loops.iter().find(|of| is_of(reciprocal, of, &dominators)) {
                let Some(end) = of.before.terminator() else {
                    break;
                };
                move_with_divisor(reciprocal, of, end);
                is_any = true;
            }
        }
        if is_any {
            module.run_passes_on(function, COMMON)?;
        }
    }
    Ok(())
}

fn is_reciprocal(instruction: Value<'_>) -> bool {
    let assembly = instruction.called_assembly();
    assembly.is_some_and(|asm| {
        !asm.has_side_effects()
            && instruction.argument_count() == 1
            && asm.asm_text().contains(RECIPROCAL)
    })
}

/// Whether a reciprocal is computed in each round of a loop that begins another, always of the same number.
fn is_of<'c>(reciprocal: Value<'c>, of: &Loop<'c>, dominators: &Dominators<'c>) -> bool {
    let block = reciprocal.block();
    of.blocks.contains(&block)
        && dominators.is_reachable(of.latch)
        && dominators.dominates(block, of.latch)
        && reciprocal
            .operand(0)
            .is_some_and(|divisor| is_known_before(divisor, of, DEPTH))
}

/// Whether a number is known before a loop, or made of such numbers by what may be computed in vain.
fn is_known_before<'c>(number: Value<'c>, of: &Loop<'c>, depth: u32) -> bool {
    if !number.is_instruction() || !of.blocks.contains(&number.block()) {
        return true;
    }
    let is_cheap = number.is_resizing() || number.is_plain_arithmetic();
    let mut operands = (0..number.operand_count()).filter_map(|n| number.operand(n));
    depth > 0 && is_cheap && operands.all(|operand| is_known_before(operand, of, depth - 1))
}

/// Moves an instruction, and what it is made of, from a loop to before the end of the block before it.
fn move_with_divisor<'c>(instruction: Value<'c>, of: &Loop<'c>, end: Value<'c>) {
    let operands = (0..instruction.operand_count()).filter_map(|n| instruction.operand(n));
    for operand in operands.collect::<Vec<_>>() {
        if operand.is_instruction() && of.blocks.contains(&operand.block()) {
            move_with_divisor(operand, of, end);
        }
    }
    instruction.move_before(end);
}
