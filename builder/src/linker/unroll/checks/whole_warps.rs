//! A loop by as many elements as a warp has threads has a copy for whole warps.
//!
//! ```text
//! lanes = min(threads of the block - first of the warp, 32)
//! do { if i >= n { panic } ..; i += lanes } while i < m
//! ```
//! becomes
//! ```text
//! if lanes == 32 && i < n && m <= n {
//!     do { ..; i += 32 } while i < m
//! } else {
//!     do { if i >= n { panic } ..; i += lanes } while i < m
//! }
//! ```
//!
//! Hardly any block has a warp that is not whole. By a constant step, the addresses of several rounds are one and constants. What a check compares is what
//! the test at the end of the round before has found to be below `m`, so it is below a limit that is no smaller; this takes one comparison, where
//! [any step and start](super::passing) take several. A step is taken to be as long as it may be wherever it is a minimum with a constant.

use super::before::Before;
use super::check::{self, Below, Check};
use crate::linker::loops::{Loop, is_inside};
use crate::linker::meetings::is_meeting;
use crate::linker::narrow::dominators::Dominators;
use crate::linker::unroll::copies;
use crate::linker::unroll::step::Step;
use crate::linker::unroll::steps::{Test, Until};
use crate::llvm::{Module, Place, Value, opcode, predicate};

/// A loop of more instructions has enough to do besides.
const MOST_INSTRUCTIONS: usize = 48;

/// Gives a loop such a copy; whether it could be.
pub(super) fn release<'c>(
    module: &Module<'c>,
    function: Value<'c>,
    found: &Loop<'c>,
    dominators: &Dominators<'c>,
) -> bool {
    let release = || {
        let test = Test::of(module, found).filter(|test| test.until == Until::Past)?;
        let (step, most) = likely(test.step)?;
        let checks = check::all(module, found, dominators);
        let of_test = |check: &Below<'c>| {
            check.value.opcode() == opcode::PHI
                && check.bits == test.bits
                && check.value.incoming_from(found.latch) == Some(test.less)
        };
        let all_below: Vec<_> = checks.iter().filter_map(Check::below).collect();
        let is_worth_it = is_worth_it(found)
            && !checks.is_empty()
            && all_below.len() == checks.len()
            && all_below.iter().all(|check| of_test(check));
        if !is_worth_it || is_inside(found, step) {
            return None;
        }
        let end = found.before.terminator()?;
        let mut before = Before::at(Place::before(end));
        let most = Value::integer_like(most, step);
        before.require(predicate::EQUAL, step, most);
        for check in all_below {
            let start = check.value.incoming_from(found.before)?;
            before.require(predicate::LESS, start, check.limit);
            before.require(predicate::LESS_OR_EQUAL, test.more, check.limit);
        }
        let pass = before.all_hold()?;
        let of_others = step.users();
        let copy = super::copy_without(function, found, &checks);
        found.before.push_branch(pass, copy, found.header);
        for user in step.users() {
            if of_others.contains(&user) {
                continue;
            }
            for n in (0..user.operand_count()).filter(|n| user.operand(*n) == Some(step)) {
                user.set_operand(n, most);
            }
        }
        Some(())
    };
    release().is_some()
}

/// A step of run time that is a minimum with a constant, and the constant.
fn likely(step: Step<'_>) -> Option<(Value<'_>, u64)> {
    let (value, 1) = step.value.filter(|_| step.constant == 0)? else {
        return None;
    };
    let wider = |value: Value<'_>| value.is_instruction() && value.opcode() == opcode::ZEXT;
    let minimum = if wider(value) {
        value.operand(0)?
    } else {
        value
    };
    if !minimum.is_call_of(&["llvm.umin."]) {
        return None;
    }
    let most = minimum.operand(1)?.as_integer()?;
    Some((value, most))
}

/// Whether several rounds win by standing together: their loads are waited for once. An exact division of floats takes a branch, behind which the loads of
/// the next round are waited for again.
fn is_worth_it(found: &Loop<'_>) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.instructions());
    instructions().count() <= MOST_INSTRUCTIONS
        && instructions().any(|i| i.opcode() == opcode::LOAD)
        && instructions()
            .all(|i| i.opcode() != opcode::FDIV && copies::may_be_copied(i) && !is_meeting(i))
}
