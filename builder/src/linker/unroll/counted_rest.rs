//! Makes the rounds that LLVM leaves behind a loop that it has unrolled in one group, as [`rest`] does with those of ours.
//!
//! ```text
//! rest = count & 3                        rest = count & 3
//! assume rest != 0                        round
//! i = 0                                   if rest != 1 { round }
//! do { round; i += 1 } while i != rest    if rest != 1 && rest != 2 { round }
//! ```
//!
//! LLVM makes them one by one, each of which waits for its loads. There are as many as the lowest bits of their number say, so nothing leads back.

use super::steps::{Test, Until, is_inside, is_left_alone};
use super::{copies, rest};
use crate::linker::loops::Loop;
use crate::llvm::{Module, Value, opcode, predicate};

/// How many rounds are left at most: one less than LLVM makes at once.
const MOST: u64 = super::ROUNDS as u64 - 1;

/// Groups the rounds of a loop that is such a rest; whether it is one.
pub(super) fn group<'c>(module: &Module<'c>, function: Value<'c>, found: &Loop<'c>) -> bool {
    let instructions = found.header.instructions();
    let is_worth_it = instructions.iter().any(|i| i.opcode() == opcode::LOAD);
    let may_be_copied = |i: &Value<'c>| copies::may_be_copied(*i) && !copies::is_meeting(*i);
    if !is_left_alone(found) || !is_worth_it || !instructions.iter().all(may_be_copied) {
        return false;
    }
    let Some(test) = Test::of_any(module, found).filter(|test| is_counted(found, test)) else {
        return false;
    };
    let is_grouped = rest::group(function, found, &test);
    if let Some(end) = found.latch.terminator().filter(|_| is_grouped) {
        // No round follows the group.
        let again = Value::integer_like((test.again != 0).into(), test.comparison);
        end.set_operand(0, again);
    }
    is_grouped
}

/// Whether a loop counts from zero to what is known not to be zero, and not to be more than are made at once.
fn is_counted<'c>(found: &Loop<'c>, test: &Test<'c>) -> bool {
    let is = |value: Option<Value<'c>>, number| value.and_then(Value::as_integer) == Some(number);
    let counts = |next: Value<'c>| {
        let is_of = |counter: Value<'c>| {
            found.header.phis().contains(&counter)
                && is(counter.incoming_from(found.before), 0)
                && counter.incoming_from(found.latch) == Some(next)
        };
        next.opcode() == opcode::ADD && is(next.operand(1), 1) && next.operand(0).is_some_and(is_of)
    };
    test.until == Until::Equal
        && is_inside(found, test.less)
        && counts(test.less)
        && is_few(test.more)
        && is_assumed(found, test.more)
}

/// Whether a number has no bits but those of a few rounds.
fn is_few(number: Value<'_>) -> bool {
    let mask = |number: Value<'_>| number.operand(1).and_then(Value::as_integer);
    number.is_instruction()
        && number.opcode() == opcode::AND
        && mask(number).is_some_and(|mask| mask <= MOST)
}

/// Whether a number is assumed not to be zero before a loop.
fn is_assumed<'c>(found: &Loop<'c>, number: Value<'c>) -> bool {
    let is_not_zero = |condition: Value<'c>| {
        condition.is_instruction()
            && condition.opcode() == opcode::ICMP
            && condition.predicate() == predicate::NOT_EQUAL
            && condition.operand(0) == Some(number)
            && condition.operand(1).and_then(Value::as_integer) == Some(0)
    };
    let before = found.before.instructions().into_iter();
    let mut assumed = before.filter(|i| i.is_call_of(&["llvm.assume"]));
    assumed.any(|call| call.operand(0).is_some_and(is_not_zero))
}
