//! Conditions that follow from others by which the same branch decides: `x - 1 < n && x < n` is `x < n` where `x` is not 0.
//!
//! Checks come in the order in which elements are read, and the first may follow from a later one; it tells more only if it is what fails, so
//! it is asked only where one of those that are left has failed.

use super::checks;
use super::conditions::Known;
use super::decided;
use super::dominators::Dominators;
use super::inside::is_always_defined;
use super::told;
use super::values::Values;
use crate::linker::cold_values;
use crate::llvm::{Block, Module, Place, Value, opcode, predicate};

/// Of how many conditions it is asked whether they follow from each other.
const MOST: usize = 16;

/// How many operations are looked through.
const DEPTH: u32 = 4;

/// Leaves them out of the branches of all functions.
pub(in crate::linker) fn leave_out(module: &Module<'_>) {
    for function in module.functions() {
        let blocks = function.blocks().into_iter();
        let of_several: Vec<_> = blocks.filter_map(Conditions::of).collect();
        if of_several.is_empty() {
            continue;
        }
        let dominators = Dominators::of(function);
        let values = Values::of(&dominators);
        let reachable = of_several
            .into_iter()
            .filter(|conditions| dominators.is_reachable(conditions.branch.block()));
        let before = reachable.filter_map(|conditions| conditions.shorten(&values, &dominators));
        // Nothing is taken away until all that is known was asked.
        let before: Vec<_> = before.collect();
        told::sink(before, &dominators, &cold_values::cold(&function.blocks()));
    }
}

/// The conditions that are all as told where a branch goes one way, and are not where it goes the other.
struct Conditions<'c> {
    branch: Value<'c>,
    all: Vec<(Value<'c>, bool)>,
    /// Whether the branch's condition holds where they are.
    holds: bool,
}

impl<'c> Conditions<'c> {
    fn of(block: Block<'c>) -> Option<Conditions<'c>> {
        let branch = block.terminator()?;
        if branch.opcode() != opcode::BRANCH || branch.successors().len() != 2 {
            return None;
        }
        let condition = branch.operand(0)?;
        let ways = [true, false].into_iter().map(|holds| Conditions {
            branch,
            all: decided::all_parts(condition, holds),
            holds,
        });
        let mut of_several = ways.filter(|way| (2..=MOST).contains(&way.all.len()));
        of_several.next()
    }

    /// Leaves out what it can; the condition before, if there was anything.
    fn shorten(
        mut self,
        values: &Values<'_, 'c>,
        dominators: &Dominators<'c>,
    ) -> Option<Value<'c>> {
        let before = self.branch.operand(0)?;
        let count = self.all.len();
        let mut known = Known::at(self.branch.block(), values, dominators);
        let mut n = 0;
        while n < self.all.len() {
            if self.follows(n, &known) {
                self.all.remove(n);
            } else if let Some((later, earlier)) = self.later_for(n, &known) {
                self.all[n].0 = earlier;
                self.all[n].1 = self.all.remove(later).1;
            } else {
                known = with(&known, self.all[n]);
                n += 1;
            }
        }
        let is_shorter = self.all.len() < count;
        is_shorter.then(|| {
            self.branch.set_operand(0, self.chain());
            before
        })
    }

    /// Whether a condition follows from what is known before it.
    fn follows(&self, n: usize, known: &Known<'_, 'c>) -> bool {
        let (condition, holds) = self.all[n];
        is_comparison(condition) && checks::decided(condition, known) == Some(holds)
    }

    /// A later condition from which one follows, and how it is asked in the place of that one.
    fn later_for(&self, n: usize, known: &Known<'_, 'c>) -> Option<(usize, Value<'c>)> {
        let place = Place::before(self.branch);
        let is_candidate =
            |m: &usize| is_comparison(self.all[*m].0) && is_comparison(self.all[n].0);
        let mut later = (n + 1..self.all.len()).filter(is_candidate);
        later.find_map(|m| {
            let (condition, holds) = self.all[m];
            let follows_from = |condition| self.follows(n, &with(known, (condition, holds)));
            let earlier = || asked_for(condition, self.all[n].0, place);
            let earlier = follows_from(condition).then(earlier)??;
            // What the condition's operands say of themselves may hold only where this one does.
            follows_from(earlier).then_some((m, earlier))
        })
    }

    /// All conditions as one: where one is not as told, those behind it may be poison.
    fn chain(&self) -> Value<'c> {
        let place = Place::before(self.branch);
        let end = place.constant(1, (!self.holds).into());
        let all = self.all.iter().map(|(condition, holds)| {
            if *holds == self.holds {
                *condition
            } else {
                inverted(*condition, place)
            }
        });
        let chain = all.reduce(|chain, one| match self.holds {
            true => place.select(chain, one, end),
            false => place.select(chain, end, one),
        });
        chain.unwrap_or_else(|| place.constant(1, self.holds.into()))
    }
}

fn is_comparison(value: Value<'_>) -> bool {
    let is_comparison = value.is_instruction() && value.opcode() == opcode::ICMP;
    is_comparison && value.operand(0).is_some_and(|number| !number.is_pointer())
}

fn with<'v, 'c>(known: &Known<'v, 'c>, (condition, holds): (Value<'c>, bool)) -> Known<'v, 'c> {
    match is_comparison(condition) {
        true => known.with(condition, holds),
        false => known.clone(),
    }
}

fn inverted<'c>(condition: Value<'c>, place: Place<'c>) -> Value<'c> {
    let operands = || condition.operand(0).zip(condition.operand(1));
    match is_comparison(condition).then(operands).flatten() {
        Some((left, right)) => {
            place.comparison(predicate::inverted(condition.predicate()), left, right)
        }
        None => place.binary(opcode::XOR, condition, place.constant(1, 1)),
    }
}

/// A comparison that may be asked wherever `instead` may, as it is not poison unless that is.
fn asked_for<'c>(comparison: Value<'c>, instead: Value<'c>, place: Place<'c>) -> Option<Value<'c>> {
    let mut parts = Vec::new();
    collect_parts(instead, DEPTH, &mut parts);
    let operand = |n| defined(comparison.operand(n)?, &parts, DEPTH, place);
    // Made again: it may say of itself that both sides have the same sign.
    Some(place.comparison(comparison.predicate(), operand(0)?, operand(1)?))
}

/// What a value is computed from so that it is poison where one of these is.
fn collect_parts<'c>(value: Value<'c>, depth: u32, parts: &mut Vec<Value<'c>>) {
    let is_whole = value.is_instruction()
        && (value.opcode() == opcode::ICMP || value.is_plain_arithmetic() || value.is_resizing());
    let Some(depth) = depth.checked_sub(1).filter(|_| is_whole) else {
        return;
    };
    for part in (0..value.operand_count()).filter_map(|n| value.operand(n)) {
        parts.push(part);
        collect_parts(part, depth, parts);
    }
}

/// The same number as a value where that is not poison; it is not poison itself unless one of the parts is.
fn defined<'c>(
    value: Value<'c>,
    parts: &[Value<'c>],
    depth: u32,
    place: Place<'c>,
) -> Option<Value<'c>> {
    if parts.contains(&value) || is_always_defined(value) {
        return Some(value);
    }
    let depth = depth.checked_sub(1).filter(|_| value.is_instruction())?;
    let operand = |n| defined(value.operand(n)?, parts, depth, place);
    // Made again without what they say of themselves.
    let again = |operation, says_something: bool| {
        let (left, right) = (operand(0)?, operand(1)?);
        let is_same = (value.operand(0), value.operand(1)) == (Some(left), Some(right));
        Some(match is_same && !says_something {
            true => value,
            false => place.binary(operation, left, right),
        })
    };
    match value.opcode() {
        opcode::TRUNC | opcode::ZEXT => Some(place.resized(operand(0)?, value.integer_bits()?)),
        // By a constant that is not too great for the number.
        opcode::LSHR if value.operand(1)?.as_integer()? < value.integer_bits()?.into() => {
            again(opcode::LSHR, value.is_exact())
        }
        operation @ (opcode::ADD | opcode::SUB | opcode::MUL) => {
            again(operation, value.never_wraps() || value.never_wraps_signed())
        }
        _ => None,
    }
}
