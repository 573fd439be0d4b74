//! The tests by which copies of rounds are gone through: once before them, and at the end of all.
//!
//! The second one compares one value that each round steps with a number that is computed once. So the copies are a loop with one end, which ptxas
//! unrolls further.

use super::steps::{Test, Until, in_first_round};
use crate::linker::loops::{Loop, is_inside};
use crate::llvm::{Block, Value, opcode, predicate};

/// What decides whether the copies are gone through.
pub(super) struct Guard<'c> {
    /// Whether they are at all.
    pub enters: Value<'c>,
    /// What each round steps.
    varying: Value<'c>,
    /// Whether that rises to the limit, or falls to it.
    rises: bool,
    /// What must not be reached for another round of all copies.
    limit: Value<'c>,
    /// What `varying` is behind the value that the next round begins with, which is the one that ptxas wants to see compared.
    behind: Option<Value<'c>>,
}

/// Multiples of a step.
struct Steps<'c> {
    /// One step, if it is a constant.
    one: Option<Value<'c>>,
    /// Of the rounds but the last one.
    all_but_last: Value<'c>,
    /// Of the rounds between the first and the last one.
    between: Value<'c>,
    /// Whether none of them is too great for its type; `None` if that is certain.
    fit: Option<Value<'c>>,
}

impl<'c> Guard<'c> {
    /// Puts the guard of so many rounds at the end of the block before the loop; `None` if it cannot be known.
    pub(super) fn before(found: &Loop<'c>, test: &Test<'c>, rounds: usize) -> Option<Guard<'c>> {
        let before = found.before;
        let steps = steps(before, test, rounds as u64)?;
        let at_first = |value| {
            let value = in_first_round(found, value)?;
            Some(number(before, value, steps.between))
        };
        let binary = |operation, left, right| before.push_binary(operation, left, right);
        let is = |predicate, left, right| before.push_comparison(predicate, left, right);
        let (less, more) = (at_first(test.less)?, at_first(test.more)?);
        let distance = binary(opcode::SUB, more, less);
        let mut parts = vec![is(predicate::GREATER, distance, steps.between)];
        // Where the loop goes until both are equal, that they are not equal is part of it.
        if test.until == Until::Past {
            parts.push(is(predicate::LESS, less, more));
        }
        // The rounds but the last one before the end, or behind the start: where that is no number of the type, so few rounds are left that
        // the loop makes them.
        let back_from = |end| {
            let is_one = is(predicate::LESS_OR_EQUAL, steps.all_but_last, end);
            (binary(opcode::SUB, end, steps.all_but_last), is_one)
        };
        let (varying, rises, (limit, is_one)) = match test.companion {
            // As far from here as the two are from each other. `distance` shrinks by what this one rises, so if it has not come to its own end
            // but for those rounds, they have not met either.
            Some(companion) => {
                let start = at_first(companion)?;
                let end = binary(opcode::ADD, start, distance);
                parts.push(is(predicate::GREATER_OR_EQUAL, end, start));
                // Nor does what is behind the end become a small number again.
                let beyond = binary(opcode::ADD, end, steps.all_but_last);
                parts.push(is(predicate::GREATER_OR_EQUAL, beyond, end));
                (companion, true, back_from(end))
            }
            None if is_inside(found, test.less) => (test.less, true, back_from(more)),
            None => {
                let limit = binary(opcode::ADD, less, steps.all_but_last);
                let is_one = is(predicate::GREATER_OR_EQUAL, limit, less);
                (test.more, false, (limit, is_one))
            }
        };
        parts.push(is_one);
        let is_old = test
            .companion
            .is_some_and(|one| one.opcode() == opcode::PHI);
        let behind = steps.one.filter(|_| is_old);
        let limit = behind.map_or(limit, |step| binary(opcode::ADD, limit, step));
        // What was never computed where the first round leaves the loop may be poison, and any answer is right then.
        let parts = parts.into_iter().map(|part| before.push_freeze(part));
        let enters = parts
            .chain(steps.fit)
            .reduce(|all, part| binary(opcode::AND, all, part))?;
        Some(Guard {
            enters,
            varying,
            rises,
            limit,
            behind,
        })
    }

    /// Puts whether all copies are gone through again at the end of the last one, whose values `in_last` gives.
    pub(super) fn again(
        &self,
        latch: Block<'c>,
        in_last: impl Fn(Value<'c>) -> Value<'c>,
    ) -> Value<'c> {
        let varying = number(latch, in_last(self.varying), self.limit);
        let varying = match self.behind {
            Some(step) => latch.push_binary(opcode::ADD, varying, step),
            None => varying,
        };
        let predicate = match self.rises {
            true => predicate::LESS,
            false => predicate::GREATER,
        };
        latch.push_comparison(predicate, varying, self.limit)
    }
}

/// A number, or the address of a pointer as one of the type of `like`, at the end of a block.
fn number<'c>(block: Block<'c>, value: Value<'c>, like: Value<'c>) -> Value<'c> {
    match value.is_pointer() {
        true => block.push_address(value, like),
        false => value,
    }
}

/// Computes the multiples of the step; `None` if even a small step would be too great.
fn steps<'c>(before: Block<'c>, test: &Test<'c>, rounds: u64) -> Option<Steps<'c>> {
    let most = (1_u64 << (test.bits - 2)) / rounds;
    let constant = u64::try_from(test.step.constant).ok()?;
    let number = |number| match test.bits {
        64 => Value::integer(number, test.less),
        _ => Value::integer_like(number, test.less),
    };
    let rest = most.checked_sub(constant)?;
    Some(match test.step.value {
        None => Steps {
            one: Some(number(constant)),
            all_but_last: number(constant * (rounds - 1)),
            between: number(constant * (rounds - 2)),
            fit: None,
        },
        Some((value, factor)) => {
            let factor = u64::try_from(factor).ok()?;
            let times = |n: u64| {
                let product = before.push_binary(opcode::MUL, value, number(factor * n));
                before.push_binary(opcode::ADD, product, number(constant * n))
            };
            let limit = number(rest / factor);
            Steps {
                one: None,
                all_but_last: times(rounds - 1),
                between: times(rounds - 2),
                fit: Some(before.push_comparison(predicate::LESS_OR_EQUAL, value, limit)),
            }
        }
    })
}
