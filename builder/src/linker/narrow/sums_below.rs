//! Whether a sum of a loop's own number and a small one is below another of the loop's own numbers is asked of the small one, in 32 bits.
//!
//! ```text
//! for (j, x) in tile.iter().enumerate() { if start + j < n { .. } }
//!
//! room = min(n - min(start, n), 2^32 - 1)         // before the loop
//! for (j, x) in tile.iter().enumerate() { if j < room { .. } }
//! ```
//!
//! The sum takes two additions and the comparison two more in 64 bits, which no range makes fewer where the slice may be longer than 2^32. Ways out of a loop
//! are left: what the loop's [test](crate::linker::unroll) and its checks compare is looked for there.

use super::bounds::{MOST_OF_32, most_at};
use super::dominators::Dominators;
use super::orders::below;
use super::rounds::Counter;
use crate::linker::loops::{self, Loop, is_inside};
use crate::llvm::{Module, Place, Value, opcode, predicate};

/// Replaces such comparisons; whether there are any.
pub(super) fn run(module: &Module<'_>, function: Value<'_>) -> Result<bool, String> {
    module.run_passes_on(function, loops::SIMPLIFY)?;
    let dominators = Dominators::of(function);
    let loops = loops::all(function);
    let all = dominators.instructions().into_iter();
    let found: Vec<_> = all
        .filter_map(|comparison| SumBelow::of(comparison, &loops, &dominators))
        .collect();
    for sum in &found {
        sum.replace();
    }
    Ok(!found.is_empty())
}

/// Whether an instruction compares a sum of 64 bits.
pub(super) fn may_be_sum(instruction: Value<'_>) -> bool {
    sides(instruction).is_some_and(|(sum, _, _)| parts(sum).is_some())
}

/// `own + small < limit`, or that it is not.
struct SumBelow<'l, 'c> {
    comparison: Value<'c>,
    /// Whether the comparison holds where the sum is below the limit.
    is_below: bool,
    own: Value<'c>,
    small: Value<'c>,
    limit: Value<'c>,
    found: &'l Loop<'c>,
}

impl<'l, 'c> SumBelow<'l, 'c> {
    fn of(
        comparison: Value<'c>,
        loops: &'l [Loop<'c>],
        dominators: &Dominators<'c>,
    ) -> Option<SumBelow<'l, 'c>> {
        let (sum, limit, is_below) = sides(comparison)?;
        let block = comparison.block();
        let around = loops.iter().filter(|one| one.blocks.contains(&block));
        let found = around.min_by_key(|one| one.blocks.len())?;
        let is_own = |value| !is_inside(found, value);
        let [a, b] = parts(sum)?;
        let (own, small) = match (is_own(a), is_own(b)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => return None,
        };
        // What steps by a number of run time may be there once alone: `for i in (thread..32).step_by(threads)`.
        let is_small = counts(small, dominators) && most_at(small, block, dominators)? < MOST_OF_32;
        let is_zero = own.as_integer() == Some(0);
        let may_be = is_own(limit) && is_small && !is_zero && !leaves(found, comparison);
        may_be.then_some(SumBelow {
            comparison,
            is_below,
            own,
            small,
            limit,
            found,
        })
    }

    fn replace(&self) {
        let Some(end) = self.found.before.terminator() else {
            return;
        };
        let (own, limit) = (self.own, self.limit);
        let before = Place::before(end);
        let most = before.constant(64, MOST_OF_32);
        let distance = before.binary(opcode::SUB, limit, own);
        let is_room = before.comparison(predicate::LESS, own, limit);
        let room = before.select(is_room, distance, before.constant(64, 0));
        let fits = before.comparison(predicate::LESS, room, most);
        let room = before.resized(before.select(fits, room, most), 32);
        let place = Place::before(self.comparison);
        let predicate = match self.is_below {
            true => predicate::LESS,
            false => predicate::GREATER_OR_EQUAL,
        };
        let small = place.resized(self.small, 32);
        let comparison = place.comparison(predicate, small, room);
        self.comparison.replace_by(comparison);
    }
}

/// The sides of an unsigned comparison of 64 bits that says whether the first is below the second one, and whether it holds then.
fn sides(comparison: Value<'_>) -> Option<(Value<'_>, Value<'_>, bool)> {
    if comparison.opcode() != opcode::ICMP {
        return None;
    }
    let (smaller, larger, is_strict) = below(comparison)?;
    let is_wide = smaller.integer_bits() == Some(64);
    // That one is not above another is that the other is not below it.
    is_wide.then_some(match is_strict {
        true => (smaller, larger, true),
        false => (larger, smaller, false),
    })
}

/// What a sum that stays in its type is of.
fn parts(sum: Value<'_>) -> Option<[Value<'_>; 2]> {
    let is_sum = sum.is_instruction()
        && match sum.opcode() {
            opcode::ADD => sum.never_wraps(),
            opcode::OR => sum.is_disjoint(),
            _ => false,
        };
    is_sum.then(|| Some([sum.operand(0)?, sum.operand(1)?]))?
}

/// Whether a number is that of a round by which a loop counts by a constant, or a constant is added to it.
fn counts<'c>(number: Value<'c>, dominators: &Dominators<'c>) -> bool {
    if !number.is_instruction() {
        return false;
    }
    let has_constant = || {
        number
            .operand(1)
            .is_some_and(|one| one.as_integer().is_some())
    };
    let is_same = match number.opcode() {
        opcode::PHI => return Counter::of(number, dominators).is_some(),
        opcode::ADD | opcode::OR => has_constant(),
        opcode::ZEXT | opcode::TRUNC => true,
        _ => false,
    };
    let inner = is_same.then(|| number.operand(0)).flatten();
    inner.is_some_and(|inner| counts(inner, dominators))
}

/// Whether a branch out of the loop is decided by a comparison alone.
fn leaves<'c>(found: &Loop<'c>, comparison: Value<'c>) -> bool {
    comparison.users().into_iter().any(|user| {
        let mut ways = user.successors().into_iter();
        user.is_terminator() && ways.any(|way| !found.blocks.contains(&way))
    })
}
