//! Comparisons of two distances from one start, which are comparisons of the ends.
//!
//! ```text
//! s.max(n) - s <= e - s        n <= e        // where s <= e
//! ```
//!
//! LLVM makes one comparison before a loop of the check of an index in it: whether the round in which `s..=e` leaves `0..n` comes before the last one. Both
//! rounds are numbers that it takes the start from, in whatever order the sums have then. The comparison of the ends takes one instruction,
//! and says that `e` is short where `n` is.

use std::collections::HashMap;

use super::checks::is_below;
use super::conditions::Known;
use super::dominators::Dominators;
use super::orders::below;
use super::replace::replace_found;
use super::values::Values;
use crate::llvm::{Place, Value, ValueKind, opcode, predicate};

/// How many operations are looked through.
const DEPTH: u32 = 6;

/// Replaces the comparisons; whether there were any.
pub(super) fn run<'c>(dominators: &Dominators<'c>) -> bool {
    let values = Values::of(dominators);
    let is_in_order = |ends: &Ends<'c>, user: Value<'c>| {
        let known = Known::at(user.block(), &values, dominators);
        is_below(ends.start, ends.end, ends.is_before, &known, DEPTH)
    };
    let found = |comparison: Value<'c>| {
        let is_comparison = comparison.opcode() == opcode::ICMP;
        let ends = is_comparison.then(|| Ends::of(comparison))??;
        // What it says elsewhere is of no use to anyone.
        let mut users = comparison.users().into_iter();
        let is_known = users.all(|user| {
            user.opcode() != opcode::PHI
                && dominators.is_reachable(user.block())
                && is_in_order(&ends, user)
        });
        is_known.then_some(ends)
    };
    replace_found(dominators, found, Ends::compared)
}

/// A comparison with `start.max(length) - start` of another distance from the start.
struct Ends<'c> {
    start: Value<'c>,
    length: Value<'c>,
    end: Value<'c>,
    /// Whether the other distance is that of the number before the end.
    is_before: bool,
    /// Whether it is asked if the other distance is the smaller one, else if it is not.
    is_below: bool,
}

impl<'c> Ends<'c> {
    fn of(comparison: Value<'c>) -> Option<Ends<'c>> {
        if comparison.operand(0)?.integer_bits() != Some(64) || comparison.operand(0)?.is_pointer()
        {
            return None;
        }
        let (smaller, larger, is_below) = below(comparison)?;
        let (one, other) = match is_below {
            true => (larger, smaller),
            false => (smaller, larger),
        };
        let (one, other) = (Sum::of(one), Sum::of(other));
        one.parts.iter().find_map(|(part, _)| {
            let maximum = part
                .value()
                .filter(|value| value.is_call_of(&["llvm.umax."]))?;
            // What both are less than their ends.
            let mut less = one.clone();
            less.add(maximum, u64::MAX, DEPTH);
            let mut end = other.clone();
            end.add_sum(&less, u64::MAX);
            let (end, is_before) = match (end.constant, end.only()?) {
                (0, end) => (end, false),
                (u64::MAX, end) => (end, true),
                _ => return None,
            };
            let (left, right) = (maximum.operand(0)?, maximum.operand(1)?);
            let ways = [(left, right), (right, left)].into_iter();
            let mut of_start = ways.filter(|(start, _)| {
                let mut rest = less.clone();
                rest.add(*start, 1, DEPTH);
                rest.parts.is_empty() && rest.constant == 0
            });
            let (start, length) = of_start.next()?;
            Some(Ends {
                start,
                length,
                end,
                is_before,
                is_below,
            })
        })
    }

    fn compared(&self, place: Place<'c>) -> Value<'c> {
        let predicate = match (self.is_below, self.is_before) {
            (true, false) => predicate::LESS,
            (true, true) => predicate::LESS_OR_EQUAL,
            (false, false) => predicate::GREATER_OR_EQUAL,
            (false, true) => predicate::GREATER,
        };
        place.comparison(predicate, self.end, self.length)
    }
}

/// What a sum is made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part<'c> {
    Value(Value<'c>),
    /// The minimum of two numbers.
    Least(Value<'c>, Value<'c>),
}

impl<'c> Part<'c> {
    fn value(self) -> Option<Value<'c>> {
        match self {
            Part::Value(value) => Some(value),
            Part::Least(..) => None,
        }
    }
}

/// A sum of multiples, as numbers of 64 bits that wrap around.
#[derive(Clone, Default)]
struct Sum<'c> {
    /// How often each part is in it, and a value that it is.
    parts: HashMap<Part<'c>, (u64, Option<Value<'c>>)>,
    constant: u64,
}

impl<'c> Sum<'c> {
    fn of(value: Value<'c>) -> Sum<'c> {
        let mut sum = Sum::default();
        sum.add(value, 1, DEPTH);
        sum
    }

    fn add(&mut self, value: Value<'c>, times: u64, depth: u32) {
        if let Some(number) = value.as_integer() {
            self.constant = self.constant.wrapping_add(number.wrapping_mul(times));
            return;
        }
        let part = Part::Value(value);
        if value.kind() != ValueKind::Instruction || depth == 0 {
            return self.add_part(part, times, Some(value));
        }
        let operands = value.operand(0).zip(match value.operand_count() {
            0 | 1 => None,
            _ => value.operand(1),
        });
        let Some((left, right)) = operands else {
            return self.add_part(part, times, Some(value));
        };
        let minus = times.wrapping_neg();
        match value.opcode() {
            opcode::ADD => {
                self.add(left, times, depth - 1);
                self.add(right, times, depth - 1);
            }
            opcode::SUB => {
                self.add(left, times, depth - 1);
                self.add(right, minus, depth - 1);
            }
            _ if value.is_call_of(&["llvm.umin."]) => {
                self.add_part(Part::Least(left, right), times, Some(value));
            }
            // The number less what of it can be subtracted.
            _ if value.is_call_of(&["llvm.usub.sat."]) => {
                self.add(left, times, depth - 1);
                self.add_part(Part::Least(left, right), minus, None);
            }
            _ => self.add_part(part, times, Some(value)),
        }
    }

    fn add_part(&mut self, part: Part<'c>, times: u64, value: Option<Value<'c>>) {
        let part = match part {
            Part::Least(a, b) if self.parts.contains_key(&Part::Least(b, a)) => Part::Least(b, a),
            part => part,
        };
        let (count, known) = self.parts.entry(part).or_default();
        *count = count.wrapping_add(times);
        *known = known.or(value);
        if *count == 0 {
            self.parts.remove(&part);
        }
    }

    fn add_sum(&mut self, other: &Sum<'c>, times: u64) {
        for (part, (count, value)) in &other.parts {
            self.add_part(*part, count.wrapping_mul(times), *value);
        }
        let constant = other.constant.wrapping_mul(times);
        self.constant = self.constant.wrapping_add(constant);
    }

    /// The value that it is, but for the constant.
    fn only(&self) -> Option<Value<'c>> {
        let mut parts = self.parts.values();
        match (parts.next(), parts.next()) {
            (Some((1, value)), None) => *value,
            _ => None,
        }
    }
}
