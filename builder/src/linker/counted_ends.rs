//! A loop over an array that has a counter beside its pointer ends by the counter.
//!
//! ```text
//! at = phi @tile, at + 16                     at = phi @tile, at + 16
//! j  = phi 0, j + 4                           j  = phi 0, j + 4
//! .. j .. load at ..                          .. j .. load at ..
//! branch at + 16 == @tile + 1024              branch j + 4 == 256
//! ```
//!
//! `tile.iter().enumerate()` over shared memory of a known size. A pointer is compared in 64 bits, and nothing would be known of the counter, which is below
//! 256 in each round.

use super::loop_counters::{self, Counter};
use super::loops::{self, Loop};
use super::offsets::{in_variable, whole};
use crate::llvm::{Module, Place, Value, ValueKind, opcode, predicate};

/// Lets all such loops end so.
pub(super) fn replace(module: &Module<'_>) -> Result<(), String> {
    for function in module.functions() {
        if !function.instructions().into_iter().any(may_be_end) {
            continue;
        }
        module.run_passes_on(function, loops::SIMPLIFY)?;
        for found in loops::all(function) {
            replace_end(module, &found);
        }
    }
    Ok(())
}

/// Whether an instruction compares a pointer with a constant one.
fn may_be_end(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::ICMP
        && matches!(
            instruction.predicate(),
            predicate::EQUAL | predicate::NOT_EQUAL
        )
        && instruction.operand(1).is_some_and(|end| {
            end.is_pointer() && (end.kind() == ValueKind::Global || end.constant_opcode().is_some())
        })
}

fn replace_end<'c>(module: &Module<'c>, found: &Loop<'c>) -> Option<()> {
    let branch = found.latch.terminator()?;
    if branch.opcode() != opcode::BRANCH || branch.successors().len() != 2 {
        return None;
    }
    let comparison = branch.operand(0)?;
    if !comparison.is_instruction() || !may_be_end(comparison) {
        return None;
    }
    let rounds = rounds(module, found, comparison)?;
    let (next, end) = loop_counters::all(found).find_map(|counter| end_of(&counter, rounds))?;
    let place = Place::before(branch);
    let ends = place.comparison(comparison.predicate(), next, Value::integer_like(end, next));
    branch.set_operand(0, ends);
    Some(())
}

/// How many rounds a loop makes that goes from one place of a variable to another.
fn rounds<'c>(module: &Module<'c>, found: &Loop<'c>, comparison: Value<'c>) -> Option<u64> {
    let (next, end) = (comparison.operand(0)?, comparison.operand(1)?);
    let (phi, step) = whole(module, next);
    let is_stepped = phi.is_instruction()
        && phi.opcode() == opcode::PHI
        && phi.block() == found.header
        && phi.incoming_from(found.latch) == Some(next);
    let start = is_stepped.then(|| phi.incoming_from(found.before))??;
    let ((of, first), (of_end, last)) = (in_variable(module, start)?, in_variable(module, end)?);
    let distance = last.checked_sub(first).filter(|_| of == of_end)?;
    let rounds = distance.checked_div(step)?;
    (rounds > 0 && distance.is_multiple_of(step)).then_some(rounds)
}

/// The next number of a counter, and what that is behind so many rounds.
fn end_of<'c>(counter: &Counter<'c>, rounds: u64) -> Option<(Value<'c>, u64)> {
    let bits = counter.phi.integer_bits();
    let bits = bits.filter(|bits| (8..=64).contains(bits))?;
    let (start, step) = (counter.start.as_integer()?, counter.step.as_integer()?);
    let end = rounds.checked_mul(step)?.checked_add(start)?;
    // It begins anew in no round, so it is this number in no other.
    (step > 0 && end <= u64::MAX >> (64 - bits)).then_some((counter.next, end))
}
