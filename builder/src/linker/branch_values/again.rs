//! Makes values again from what is known of their operands.

use std::collections::HashMap;

use super::dominance::Edge;
use super::facts::{self, Fact, Parts};
use crate::llvm::{Place, Value, opcode, predicate};

/// How many instructions lie between a fact and what is made again, at most.
const DEPTH: usize = 4;

/// Makes again what depends on a fact and is used behind an edge; says whether there was anything.
pub(super) fn behind<'c>(edge: &mut Edge<'c>, fact: &Fact<'c>) -> bool {
    let mut dependent = vec![fact.value];
    let mut start = 0;
    for _ in 0..DEPTH {
        let end = dependent.len();
        let users = dependent[start..end].iter().flat_map(|value| value.users());
        let users: Vec<_> = users
            .filter(|user| may_be_made_again(*user, fact))
            .collect();
        start = end;
        for user in users {
            if !dependent.contains(&user) && !edge.leads_to(user.block()) {
                dependent.push(user);
            }
        }
    }
    let Some(end) = edge.from.terminator() else {
        return false;
    };
    let mut made = Made::new(fact, end);
    let mut changed = false;
    for &value in &dependent {
        for user in value.users() {
            // The branch itself is before the edge.
            if !user.is_instruction() || user == end {
                continue;
            }
            for n in 0..user.operand_count() {
                if user.operand(n) == Some(value)
                    && edge.leads_to_use(user, n)
                    && let Some(again) = made.of(value, DEPTH)
                {
                    user.set_operand(n, again);
                    changed = true;
                }
            }
        }
    }
    changed
}

/// Makes the second part of a condition again, which is looked at only where the first one does not decide; says whether it depends on that.
pub(super) fn in_second_operand(condition: Value<'_>) -> bool {
    if condition.integer_bits() != Some(1) {
        return false;
    }
    let (one, other, holds) = match facts::parts(condition) {
        Some(Parts::Both(one, other)) => (one, other, true),
        Some(Parts::Either(one, other)) => (one, other, false),
        _ => return false,
    };
    for fact in facts::of(one, holds) {
        if fact.value == other {
            continue;
        }
        if let Some(again) = Made::new(&fact, condition).of(other, DEPTH) {
            // Where the first part decides, the second one may be poison now.
            let decided = Value::integer_like((!holds).into(), condition);
            let both = match holds {
                true => Place::before(condition).select(one, again, decided),
                false => Place::before(condition).select(one, decided, again),
            };
            condition.replace_by(both);
            return true;
        }
    }
    false
}

/// Whether an instruction gives something simpler when it is computed from a fact, or may lead to one that does.
fn may_be_made_again(instruction: Value<'_>, fact: &Fact<'_>) -> bool {
    let depends_on_condition = |n| instruction.operand(n) == Some(fact.value);
    instruction.is_instruction()
        && match instruction.opcode() {
            _ if instruction.is_resizing() => true,
            opcode::ADD | opcode::SUB | opcode::XOR | opcode::ICMP => true,
            opcode::GET_ELEMENT_POINTER => true,
            opcode::SELECT => depends_on_condition(0),
            _ => false,
        }
}

/// What was made again before an instruction.
struct Made<'f, 'c> {
    fact: &'f Fact<'c>,
    before: Value<'c>,
    /// `None` for what does not depend on the fact.
    known: HashMap<Value<'c>, Option<Value<'c>>>,
}

impl<'f, 'c> Made<'f, 'c> {
    fn new(fact: &'f Fact<'c>, before: Value<'c>) -> Made<'f, 'c> {
        Made {
            fact,
            before,
            known: HashMap::from([(fact.value, Some(fact.is))]),
        }
    }

    /// The value as it is by the fact; `None` if it does not depend on it.
    fn of(&mut self, value: Value<'c>, depth: usize) -> Option<Value<'c>> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        if depth == 0 || !may_be_made_again(value, self.fact) {
            return None;
        }
        let again = self.make(value, depth - 1);
        self.known.insert(value, again);
        again
    }

    fn make(&mut self, value: Value<'c>, depth: usize) -> Option<Value<'c>> {
        let count = value.operand_count();
        let operands: Vec<_> = (0..count).filter_map(|n| value.operand(n)).collect();
        if value.opcode() == opcode::SELECT {
            let arm = match self.of(operands[0], depth)?.as_integer()? {
                0 => operands[2],
                _ => operands[1],
            };
            return Some(self.of(arm, depth).unwrap_or(arm));
        }
        let again: Vec<_> = operands.iter().map(|one| self.of(*one, depth)).collect();
        if again.iter().all(Option::is_none) {
            return None;
        }
        let operands: Vec<_> = again
            .into_iter()
            .zip(operands)
            .map(|(again, operand)| again.unwrap_or(operand))
            .collect();
        let constants: Vec<_> = operands.iter().map(|one| constant(*one)).collect();
        match (value.opcode(), &constants[..]) {
            (opcode::ZEXT, [Some(number)]) => return Some(Value::integer_like(*number, value)),
            (opcode::XOR, [Some(one), Some(other)]) => {
                return Some(Value::integer_like(one ^ other, value));
            }
            (opcode::ADD | opcode::SUB | opcode::GET_ELEMENT_POINTER, [None, Some(0)]) => {
                return Some(operands[0]);
            }
            _ => {}
        }
        let copy = self.before.build_copy_before(value);
        for (n, operand) in (0..).zip(&operands) {
            copy.set_operand(n, *operand);
        }
        if (value.opcode(), &constants[..]) == (opcode::ADD, &[None, Some(1)]) {
            self.note_that_one_more_fits(copy, operands[0]);
        }
        if self.fact.sum == Some(value) {
            copy.set_never_wraps();
        }
        Some(copy)
    }

    /// Of a number that is below another one, the next one is in the type, too.
    fn note_that_one_more_fits(&self, sum: Value<'c>, number: Value<'c>) {
        let (reason, holds) = self.fact.reason;
        if !reason.is_instruction() || reason.opcode() != opcode::ICMP {
            return;
        }
        let is = |n| reason.operand(n) == Some(number);
        match (reason.predicate(), holds) {
            (predicate::LESS, true) | (predicate::GREATER_OR_EQUAL, false) if is(0) => {
                sum.set_never_wraps();
            }
            (predicate::GREATER, true) | (predicate::LESS_OR_EQUAL, false) if is(1) => {
                sum.set_never_wraps();
            }
            (predicate::SIGNED_LESS, true) | (predicate::SIGNED_GREATER_OR_EQUAL, false)
                if is(0) =>
            {
                sum.set_never_wraps_signed();
            }
            (predicate::SIGNED_GREATER, true) | (predicate::SIGNED_LESS_OR_EQUAL, false)
                if is(1) =>
            {
                sum.set_never_wraps_signed();
            }
            _ => {}
        }
    }
}

/// A constant of at most 64 bits.
fn constant(value: Value<'_>) -> Option<u64> {
    value.integer_bits().filter(|bits| *bits <= 64)?;
    value.as_integer()
}
