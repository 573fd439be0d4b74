//! A loop over chunks, the last of which may be shorter, ends by the length of a whole one.
//!
//! ```text
//! rest = phi length, next                     rest = phi length, rest - 32
//! at   = phi start, at + here                 at   = phi start, at + 32
//! here = min(rest, 32)                        here = min(rest, 32)
//! next = rest - here
//! branch next == 0                            branch rest <= 32
//! ```
//!
//! `slice.chunks(32)`. A chunk is as long as any other wherever the loop goes on behind it. By constant steps it is one that the linker unrolls, and the address
//! does not wait for a minimum.

use super::loops::{self, Loop, is_inside};
use crate::llvm::{Module, Place, Value, opcode, predicate};

/// Lets all such loops end so.
pub(super) fn replace(module: &Module<'_>) -> Result<(), String> {
    for function in module.functions() {
        if !function.instructions().into_iter().any(is_left) {
            continue;
        }
        module.run_passes_on(function, loops::SIMPLIFY)?;
        for found in loops::all(function) {
            replace_end(&found);
        }
    }
    Ok(())
}

/// Whether an instruction compares with zero what is left behind a chunk.
fn is_left(instruction: Value<'_>) -> bool {
    left_behind(instruction).is_some()
}

/// What is left behind a chunk that an instruction compares with zero.
fn left_behind(comparison: Value<'_>) -> Option<Left<'_>> {
    let is_comparison = comparison.is_instruction()
        && comparison.opcode() == opcode::ICMP
        && matches!(
            comparison.predicate(),
            predicate::EQUAL | predicate::NOT_EQUAL
        );
    let is_with_zero = is_comparison && comparison.operand(1)?.as_integer() == Some(0);
    let next = is_with_zero.then(|| comparison.operand(0))??;
    Left::of(next)
}

/// What is left behind a chunk.
struct Left<'c> {
    next: Value<'c>,
    rest: Value<'c>,
    /// The length of all chunks but the last one.
    whole: Value<'c>,
    /// The length of this one, if it is computed.
    here: Option<Value<'c>>,
}

impl<'c> Left<'c> {
    fn of(next: Value<'c>) -> Option<Left<'c>> {
        if !next.is_instruction() {
            return None;
        }
        let rest = next.operand(0).filter(|rest| rest.is_instruction())?;
        if next.is_call_of(&["llvm.usub.sat."]) {
            return Some(Left {
                next,
                rest,
                whole: next.operand(1)?,
                here: None,
            });
        }
        let here = next.operand(1).filter(|here| here.is_instruction())?;
        let is_shorter = next.opcode() == opcode::SUB && here.is_call_of(&["llvm.umin."]);
        let (one, other) = is_shorter.then(|| Some((here.operand(0)?, here.operand(1)?)))??;
        let whole = match (one == rest, other == rest) {
            (true, false) => other,
            (false, true) => one,
            _ => return None,
        };
        Some(Left {
            next,
            rest,
            whole,
            here: Some(here),
        })
    }
}

fn replace_end<'c>(found: &Loop<'c>) -> Option<()> {
    let branch = found.latch.terminator()?;
    if branch.opcode() != opcode::BRANCH || branch.successors().len() != 2 {
        return None;
    }
    let comparison = branch.operand(0)?;
    let left = left_behind(comparison)?;
    let is_stepped = left.rest.opcode() == opcode::PHI
        && left.rest.block() == found.header
        && left.rest.incoming_from(found.latch) == Some(left.next);
    if !is_stepped || is_inside(found, left.whole) {
        return None;
    }
    let place = Place::before(branch);
    let ends = match comparison.predicate() {
        predicate::EQUAL => predicate::LESS_OR_EQUAL,
        _ => predicate::GREATER,
    };
    branch.set_operand(0, place.comparison(ends, left.rest, left.whole));
    for phi in found.header.phis() {
        let Some(next) = phi.incoming_from(found.latch) else {
            continue;
        };
        let new = if next == left.next {
            place.binary(opcode::SUB, left.rest, left.whole)
        } else {
            match left
                .here
                .and_then(|here| with_whole(found, next, here, left.whole, branch))
            {
                Some(new) => new,
                None => continue,
            }
        };
        for (n, (_, from)) in (0..).zip(phi.incoming()) {
            if from == found.latch {
                phi.set_operand(n, new);
            }
        }
    }
    Some(())
}

/// A step by the length of this chunk, by that of a whole one before the end of the round.
fn with_whole<'c>(
    found: &Loop<'c>,
    next: Value<'c>,
    here: Value<'c>,
    whole: Value<'c>,
    end: Value<'c>,
) -> Option<Value<'c>> {
    let is_step = is_inside(found, next)
        && matches!(next.opcode(), opcode::ADD | opcode::GET_ELEMENT_POINTER)
        && (0..next.operand_count()).any(|n| next.operand(n) == Some(here));
    let copy = is_step.then(|| end.build_copy_before(next))?;
    for n in (0..copy.operand_count()).filter(|n| copy.operand(*n) == Some(here)) {
        copy.set_operand(n, whole);
    }
    Some(copy)
}
