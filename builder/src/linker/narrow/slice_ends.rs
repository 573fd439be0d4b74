//! A loop over a short slice that has a counter beside its pointer ends by the counter.
//!
//! ```text
//! at = phi bytes, at + 1                      at = phi bytes, at + 1
//! i  = phi 0, i + 1                           i  = phi 0, i + 1
//! branch at + 1 == bytes + length             branch i + 1 == length
//! ```
//!
//! `position` and `enumerate`, and `rposition`, whose counter comes to 0 where the pointer comes to the first byte. [`counted_ends`](crate::linker::counted_ends)
//! does it of arrays. A pointer is compared in 64 bits, and nothing would be known of the counter, which has 32 where the length has.

use rustc_hash::FxHashMap as HashMap;

use super::dominators::Dominators;
use super::rounds::Counter;
use super::values::Values;
use crate::llvm::{Block, Module, Place, Value, ValueKind, opcode, predicate};

/// How many operations an address is taken apart into.
const DEPTH: u32 = 8;

/// Whether an instruction compares two addresses for equality.
pub(super) fn is_of_addresses(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::ICMP
        && matches!(
            instruction.predicate(),
            predicate::EQUAL | predicate::NOT_EQUAL
        )
        && instruction.operand(0).is_some_and(Value::is_pointer)
}

/// Lets such loops of a function end so; whether there are any.
pub(super) fn run<'c>(module: &Module<'c>, dominators: &Dominators<'c>) -> bool {
    let values = Values::of(dominators);
    let all = dominators.instructions().into_iter();
    let found: Vec<_> = all
        .filter(|comparison| is_of_addresses(*comparison))
        .filter_map(|comparison| {
            Some((
                comparison,
                End::of(module, comparison, &values, dominators)?,
            ))
        })
        .collect();
    for (comparison, end) in &found {
        let place = Place::before(*comparison);
        let new = place.comparison(comparison.predicate(), end.counted, end.number);
        comparison.replace_by(new);
    }
    !found.is_empty()
}

/// What is compared in the place of addresses.
struct End<'c> {
    counted: Value<'c>,
    number: Value<'c>,
}

impl<'c> End<'c> {
    fn of(
        module: &Module<'c>,
        comparison: Value<'c>,
        values: &Values<'_, 'c>,
        dominators: &Dominators<'c>,
    ) -> Option<End<'c>> {
        let sides = (comparison.operand(0)?, comparison.operand(1)?);
        [sides, (sides.1, sides.0)]
            .into_iter()
            .find_map(|(at, end)| End::at(module, comparison, at, end, values, dominators))
    }

    fn at(
        module: &Module<'c>,
        comparison: Value<'c>,
        at: Value<'c>,
        end: Value<'c>,
        values: &Values<'_, 'c>,
        dominators: &Dominators<'c>,
    ) -> Option<End<'c>> {
        let steps = Steps::of(module, at)?;
        let header = steps.phi.block();
        let is_outside = end.kind() != ValueKind::Instruction
            || end.block() != header && dominators.dominates(end.block(), header);
        // Each round asks it.
        if !is_outside || !dominators.dominates(comparison.block(), steps.latch) {
            return None;
        }
        let mut distance = Sum::of(module, end, 1);
        distance.add(&Sum::of(module, steps.start, -1));
        let phis = header.phis().into_iter();
        let phis = phis.filter(|phi| phi.integer_bits() == Some(64) && !phi.is_pointer());
        let counters = phis.filter_map(|phi| Counter::of(phi, dominators));
        let mut alike = counters.filter(|counter| counter.step() == steps.bytes.into());
        alike.find_map(|counter| {
            let counted = match at == steps.phi {
                true => counter.number(),
                false => counter.next(),
            };
            let is_there = match counted.block() == comparison.block() {
                true => comes_before(counted, comparison),
                false => dominators.dominates(counted.block(), comparison.block()),
            };
            let number = match steps.bytes {
                // From zero on.
                1 if counter.start.as_integer() == Some(0) => {
                    distance.number(header, dominators)?
                }
                // To zero.
                -1 => {
                    let mut rest = distance.clone();
                    rest.add(&Sum::of(module, counter.start, 1));
                    rest.is_zero()
                        .then(|| Value::integer_like(0, counter.start))?
                }
                _ => return None,
            };
            let is_short = |number| {
                let range = values.at(number, counter.before);
                range.is_some_and(|range| range.is_unsigned_32())
            };
            (is_there && is_short(number) && is_short(counter.start))
                .then_some(End { counted, number })
        })
    }
}

/// Whether an instruction comes before another one of its block.
fn comes_before<'c>(one: Value<'c>, other: Value<'c>) -> bool {
    let mut block = one.block().instructions().into_iter();
    block.find(|i| *i == one || *i == other) == Some(one)
}

/// A pointer that each round of a loop moves by a byte.
struct Steps<'c> {
    phi: Value<'c>,
    start: Value<'c>,
    latch: Block<'c>,
    bytes: i64,
}

impl<'c> Steps<'c> {
    /// Those of a phi, or of what it is in the next round.
    fn of(module: &Module<'c>, at: Value<'c>) -> Option<Steps<'c>> {
        if at.kind() != ValueKind::Instruction {
            return None;
        }
        let phi = match at.opcode() {
            opcode::PHI => at,
            opcode::GET_ELEMENT_POINTER => at.operand(0)?,
            _ => return None,
        };
        if phi.kind() != ValueKind::Instruction || phi.opcode() != opcode::PHI {
            return None;
        }
        let [one, other] = phi.incoming().try_into().ok()?;
        [(one, other), (other, one)]
            .into_iter()
            .find_map(|((start, _), (next, latch))| {
                let is_next = next.kind() == ValueKind::Instruction
                    && next.opcode() == opcode::GET_ELEMENT_POINTER
                    && next.operand(0) == Some(phi)
                    && next.operand_count() == 2
                    && (at == phi || at == next);
                let count = is_next.then(|| next.operand(1))??.as_integer()? as i64;
                let size = i64::try_from(module.size_of(next.element_type())).ok()?;
                let bytes = count.checked_mul(size).filter(|bytes| bytes.abs() == 1)?;
                Some(Steps {
                    phi,
                    start,
                    latch,
                    bytes,
                })
            })
    }
}

/// A sum of multiples of values, in 64 bits: a pointer is the number of its address.
#[derive(Clone)]
struct Sum<'c> {
    terms: HashMap<Value<'c>, i64>,
    constant: i64,
}

impl<'c> Sum<'c> {
    /// So many times a value.
    fn of(module: &Module<'c>, value: Value<'c>, factor: i64) -> Sum<'c> {
        let mut sum = Sum {
            terms: HashMap::default(),
            constant: 0,
        };
        sum.take_apart(module, value, factor, DEPTH);
        sum
    }

    fn take_apart(&mut self, module: &Module<'c>, value: Value<'c>, factor: i64, depth: u32) {
        if let Some(number) = value.as_integer() {
            self.constant = self
                .constant
                .wrapping_add((number as i64).wrapping_mul(factor));
            return;
        }
        let parts = match depth.checked_sub(1) {
            Some(depth) => parts(module, value).map(|parts| (parts, depth)),
            None => None,
        };
        match parts {
            Some((parts, depth)) => {
                for (part, times) in parts {
                    self.take_apart(module, part, factor.wrapping_mul(times), depth);
                }
            }
            None => self.add_term(value, factor),
        }
    }

    fn add_term(&mut self, value: Value<'c>, factor: i64) {
        let all = self.terms.entry(value).or_default();
        *all = all.wrapping_add(factor);
        if *all == 0 {
            self.terms.remove(&value);
        }
    }

    fn add(&mut self, other: &Sum<'c>) {
        for (value, factor) in &other.terms {
            self.add_term(*value, *factor);
        }
        self.constant = self.constant.wrapping_add(other.constant);
    }

    fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.constant == 0
    }

    /// The value that it is, or the difference that is computed before a block.
    fn number(&self, header: Block<'c>, dominators: &Dominators<'c>) -> Option<Value<'c>> {
        if self.constant != 0 {
            return None;
        }
        let with = |factor| {
            let mut terms = self.terms.iter();
            terms
                .find(|(_, times)| **times == factor)
                .map(|(value, _)| *value)
        };
        let more = with(1)?;
        match self.terms.len() {
            1 => Some(more),
            2 => {
                let less = with(-1)?;
                more.users().into_iter().find(|user| {
                    user.opcode() == opcode::SUB
                        && user.operand(0) == Some(more)
                        && user.operand(1) == Some(less)
                        && user.block() != header
                        && dominators.dominates(user.block(), header)
                })
            }
            _ => None,
        }
    }
}

/// The values that a value is the sum of, each with how often.
fn parts<'c>(module: &Module<'c>, value: Value<'c>) -> Option<[(Value<'c>, i64); 2]> {
    if value.kind() != ValueKind::Instruction {
        return None;
    }
    let operands = || Some((value.operand(0)?, value.operand(1)?));
    let (one, other) = operands()?;
    match value.opcode() {
        opcode::GET_ELEMENT_POINTER if value.operand_count() == 2 => {
            let size = i64::try_from(module.size_of(value.element_type())).ok()?;
            let is_whole = other.integer_bits() == Some(64);
            is_whole.then_some([(one, 1), (other, size)])
        }
        opcode::ADD if value.integer_bits() == Some(64) => Some([(one, 1), (other, 1)]),
        opcode::SUB if value.integer_bits() == Some(64) => Some([(one, 1), (other, -1)]),
        _ => None,
    }
}
