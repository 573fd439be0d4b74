//! What is known where a branch leads.

use super::limits::Limited;
use crate::llvm::{Value, opcode, predicate};

/// That a value is another one.
pub(super) struct Fact<'c> {
    pub value: Value<'c>,
    pub is: Value<'c>,
    /// What says so, without the `not`s around it, and whether it holds.
    pub reason: (Value<'c>, bool),
    /// A sum with the value that does not wrap around.
    pub sum: Option<Value<'c>>,
}

/// What is known where `condition` is `holds`.
pub(super) fn of(condition: Value<'_>, holds: bool) -> Vec<Fact<'_>> {
    let mut facts = Vec::new();
    let mut open = vec![(condition, holds)];
    while let Some((condition, holds)) = open.pop() {
        if !condition.is_instruction() || condition.integer_bits() != Some(1) {
            continue;
        }
        facts.push(Fact {
            value: condition,
            is: Value::integer_like(holds.into(), condition),
            reason: without_not(condition, holds),
            sum: None,
        });
        match parts(condition) {
            Some(Parts::Both(one, other)) if holds => open.extend([(one, true), (other, true)]),
            Some(Parts::Either(one, other)) if !holds => {
                open.extend([(one, false), (other, false)]);
            }
            Some(Parts::Not(negated)) => open.push((negated, !holds)),
            _ => {}
        }
        facts.extend(limit_reached(condition, holds));
    }
    facts
}

/// A condition made of others.
pub(in crate::linker) enum Parts<'c> {
    Both(Value<'c>, Value<'c>),
    Either(Value<'c>, Value<'c>),
    Not(Value<'c>),
}

/// Takes a condition apart. Of `select a, b, false` the second part is looked at only where the first one holds.
pub(in crate::linker) fn parts(condition: Value<'_>) -> Option<Parts<'_>> {
    let operand = |n| condition.operand(n);
    let constant = |n| operand(n).and_then(Value::as_integer);
    match condition.opcode() {
        opcode::AND => Some(Parts::Both(operand(0)?, operand(1)?)),
        opcode::OR => Some(Parts::Either(operand(0)?, operand(1)?)),
        opcode::XOR if constant(1) == Some(1) => Some(Parts::Not(operand(0)?)),
        opcode::SELECT if constant(2) == Some(0) => Some(Parts::Both(operand(0)?, operand(1)?)),
        opcode::SELECT if constant(1) == Some(1) => Some(Parts::Either(operand(0)?, operand(2)?)),
        _ => None,
    }
}

fn without_not(condition: Value<'_>, holds: bool) -> (Value<'_>, bool) {
    match condition.is_instruction().then(|| parts(condition)) {
        Some(Some(Parts::Not(negated))) => without_not(negated, !holds),
        _ => (condition, holds),
    }
}

/// Where `x + min(end - x, most)` is not `end`, the minimum is `most`, whatever wraps around. Where the maximum of `x` and the sum is below
/// `end`, so is `x`: the sum does not wrap around, and is the maximum.
fn limit_reached(comparison: Value<'_>, holds: bool) -> Vec<Fact<'_>> {
    if comparison.opcode() != opcode::ICMP {
        return Vec::new();
    }
    let Some(limited) = Limited::compared(comparison) else {
        return Vec::new();
    };
    let is_lesser = limited.is_lesser(holds);
    let differs = match comparison.predicate() {
        predicate::EQUAL => !holds,
        predicate::NOT_EQUAL => holds,
        _ => is_lesser,
    };
    let fact = |value, is| Fact {
        value,
        is,
        reason: (comparison, holds),
        sum: limited.maximum.map(|_| limited.sum),
    };
    let reached = fact(limited.minimum, limited.most);
    match limited.maximum {
        None if differs => vec![reached],
        // What depends on the sum is made again by the second one.
        Some(maximum) if is_lesser => vec![fact(maximum, limited.sum), reached],
        _ => Vec::new(),
    }
}
