//! Whether all rounds of a loop pass their checks, computed before it: the first round does, and no other one brings a value to its limit; or no value is
//! as great.

use super::before::Before;
use super::check::{Below, Check, Values, What};
use super::rounds::Rounds;
use crate::linker::loops::Loop;
use crate::linker::unroll::step::Step;
use crate::linker::unroll::steps::{Test, in_first_round};
use crate::llvm::{Place, Value, opcode, predicate};

/// What is computed before a loop.
pub(super) struct Passing<'c> {
    /// Whether all rounds pass all checks; at least where it holds.
    pub all: Value<'c>,
    /// Whether the first round passes the first checks; `None` if there are none of these.
    pub first: Option<Value<'c>>,
}

/// Puts that at the end of the block before the loop, of as many first checks, which are of no values that are only known not to be great.
pub(super) fn put<'c>(
    found: &Loop<'c>,
    test: &Test<'c>,
    checks: &[Check<'c>],
    first: usize,
) -> Option<Passing<'c>> {
    let block = found.before;
    // What is copied goes to the very end of the block.
    block.terminator()?.erase();
    let ends = [test.less, test.more].map(|value| in_first_round(found, value));
    let starts: Option<Vec<_>> = checks
        .iter()
        .map(|check| match &check.what {
            What::Is(condition, _) => Some(*condition),
            What::Below(below) => match below.values {
                Values::Steps(_) => in_first_round(found, below.value),
                Values::UpTo(greatest) => Some(Value::integer_like(greatest, below.value)),
            },
        })
        .collect();
    let like = match test.bits {
        64 => Value::integer(0, test.less),
        _ => test.less,
    };
    let ends = ends.map(|end| {
        end.map(|end| match end.is_pointer() {
            true => block.push_address(end, like),
            false => end,
        })
    });
    let place = Place::before(block.push_jump(found.header));
    let ([Some(less), Some(more)], Some(starts)) = (ends, starts) else {
        return None;
    };
    let mut of_first = Before::at(place);
    for (check, &start) in checks.iter().zip(&starts).take(first) {
        match &check.what {
            What::Is(condition, is_needed) => of_first.require_is(*condition, *is_needed),
            What::Below(below) => {
                let predicate = match below.is_difference {
                    true => predicate::NOT_EQUAL,
                    false => predicate::LESS,
                };
                of_first.require(predicate, start, below.limit);
            }
        }
    }
    let first = of_first.all_hold();
    let mut before = Before::at(place);
    let rounds = Rounds::of(found, test, (less, more), &mut before)?;
    for (check, start) in checks.iter().zip(starts) {
        match &check.what {
            What::Is(condition, is_needed) => before.require_is(*condition, *is_needed),
            What::Below(below) => {
                before.require(predicate::LESS, start, below.limit);
                if let Values::Steps(step) = below.values {
                    stays_below(below, step, start, &rounds, &mut before)?;
                }
            }
        }
    }
    let all = before.all_hold()?;
    Some(Passing { all, first })
}

/// Puts whether checks pass of values up to some that are known there.
pub(super) fn put_known<'c>(found: &Loop<'c>, checks: &[Check<'c>]) -> Option<Value<'c>> {
    let mut before = Before::at(Place::before(found.before.terminator()?));
    for below in checks.iter().filter_map(Check::below) {
        if let Values::UpTo(greatest) = below.values {
            let greatest = Value::integer_like(greatest, below.value);
            before.require(predicate::LESS, greatest, below.limit);
        }
    }
    before.all_hold()
}

/// Adds that a check's value, `start` in the first round and below its limit there, is so in all rounds.
fn stays_below<'c>(
    check: &Below<'c>,
    of_check: Step<'c>,
    start: Value<'c>,
    rounds: &Rounds<'c>,
    before: &mut Before<'c>,
) -> Option<()> {
    let place = before.place;
    let constant = |number| place.constant(check.bits, number);
    let room = place.binary(opcode::SUB, check.limit, start);
    let rounds = match *rounds {
        Rounds::Number(rounds) => rounds,
        // As many steps, so the last value is nearer to the first than `distance + step`.
        Rounds::Steps {
            distance,
            step,
            bits,
        } => {
            if step != of_check || bits != check.bits {
                return None;
            }
            let step = before.number(step, bits)?;
            before.require(predicate::LESS_OR_EQUAL, step, room);
            let most = place.binary(opcode::SUB, room, step);
            before.require(predicate::LESS_OR_EQUAL, distance, most);
            return Some(());
        }
    };
    let last = place.binary(opcode::SUB, room, constant(1));
    let (size, room) = match of_check {
        Step {
            value: None,
            constant,
        } => {
            // A value that falls must not go below 0.
            let room = if constant < 0 { start } else { last };
            (constant.unsigned_abs(), room)
        }
        _ => (0, last),
    };
    if size.is_power_of_two() {
        let shift = constant(size.ilog2().into());
        let most = place.resized(place.binary(opcode::LSHR, room, shift), 64);
        before.require(predicate::LESS_OR_EQUAL, rounds, most);
        return Some(());
    }
    // Products of numbers of 32 bits are exact.
    let step = match size {
        0 => place.resized(before.number(of_check, check.bits)?, 64),
        _ => place.constant(64, size),
    };
    let both = place.binary(opcode::OR, rounds, step);
    let beyond = place.constant(64, 1 << 32);
    before.require(predicate::LESS, both, beyond);
    let steps = place.binary(opcode::MUL, rounds, step);
    let room = place.resized(room, 64);
    before.require(predicate::LESS_OR_EQUAL, steps, room);
    Some(())
}
