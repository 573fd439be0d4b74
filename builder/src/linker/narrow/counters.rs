//! Remainders of what a loop counts become counters that begin anew.
//!
//! ```text
//! for i in start..end { .. i % n .. }     // as r, which begins with start % n, and goes on as
//! r = if r + 1 == n { 0 } else { r + 1 }
//! ```
//!
//! So is `(i + k) % n` of a constant `n`, and a place in a ring: `place = (place + 1) % n`, whose next place is all that the division says. A
//! counter that would wrap around its type is poison (`nuw`), so is its remainder, and the new counter may be any number then. The only
//! division that is left is that of the start, before the loop: its divisor is made 1 where it is 0, since the loop need not divide at all.

use std::collections::HashSet;

use super::dominators::Dominators;
use super::ring::{Made, Ring};
use crate::llvm::{Block, Value, ValueKind, opcode};

/// How far a remainder by a variable goes on at most, one by one: as far as the rounds that are made at once.
const MOST_ONES: u64 = 4;

/// A phi of a loop's first block that each round adds a constant to.
struct Counter<'c> {
    phi: Value<'c>,
    step: u64,
    /// Where it begins, by the block before the loop.
    starts: Vec<(Value<'c>, Block<'c>)>,
    /// The blocks that lead back.
    latches: Vec<Block<'c>>,
    blocks: HashSet<Block<'c>>,
}

/// A remainder of a counter and a constant.
struct Remainder<'c> {
    value: Value<'c>,
    added: u64,
    divisor: Value<'c>,
}

/// Replaces the remainders of a function that are worth it; whether there were any.
pub(super) fn run<'c>(dominators: &Dominators<'c>) -> bool {
    let mut phis = dominators.instructions();
    phis.retain(|i| i.opcode() == opcode::PHI && matches!(i.integer_bits(), Some(32 | 64)));
    phis.retain(|phi| !phi.is_pointer());
    let mut is_changed = false;
    let mut made = Made::new();
    for phi in phis {
        is_changed |= ring(phi, dominators, &mut made);
        let Some(counter) = Counter::of(phi, dominators) else {
            continue;
        };
        let mut remainders = counter.remainders(&made);
        while let Some(divisor) = remainders.first().map(|remainder| remainder.divisor) {
            let same = |remainder: &Remainder<'c>| remainder.divisor == divisor;
            let (group, rest) = remainders.into_iter().partition(same);
            counter.replace(divisor, group, dominators, &mut made);
            remainders = rest;
            is_changed = true;
        }
    }
    is_changed
}

impl<'c> Counter<'c> {
    fn of(phi: Value<'c>, dominators: &Dominators<'c>) -> Option<Counter<'c>> {
        let stepped = |value: Value<'c>| {
            let (left, step) = sum(value)?;
            (left == phi && never_wraps(value)).then_some(step)
        };
        let incoming = phi.incoming().into_iter();
        let (nexts, starts): (Vec<_>, Vec<_>) =
            incoming.partition(|(value, _)| stepped(*value).is_some());
        let &(next, _) = nexts.first()?;
        if starts.is_empty() || nexts.iter().any(|(value, _)| *value != next) {
            return None;
        }
        let latches: Vec<_> = nexts.into_iter().map(|(_, block)| block).collect();
        let blocks = blocks_of_loop(phi.block(), &latches, dominators);
        // Another way back, which leaves the counter as it was or begins anew.
        if starts.iter().any(|(_, block)| blocks.contains(block)) {
            return None;
        }
        Some(Counter {
            phi,
            step: stepped(next)?,
            starts,
            latches,
            blocks,
        })
    }

    /// The remainders in the loop that take more instructions than a counter, and those by the same divisors behind it.
    fn remainders(&self, made: &Made<'c>) -> Vec<Remainder<'c>> {
        let bits = self.phi.integer_bits();
        let sums = self.phi.users().into_iter().filter_map(|user| {
            let (left, added) = sum(user)?;
            (left == self.phi && never_wraps(user)).then_some((user, added))
        });
        let dividends: Vec<_> = sums.chain([(self.phi, 0)]).collect();
        let mut found = Vec::new();
        for (dividend, added) in dividends {
            for value in remainders_of(dividend) {
                let Some(divisor) = value.operand(1).map(|by| *made.get(&by).unwrap_or(&by)) else {
                    continue;
                };
                let is_worth_it = match divisor.as_integer() {
                    // A multiplication says the remainder of 32 bits in as many instructions.
                    Some(number) => bits == Some(64) && (2..=1 << 62).contains(&number),
                    None => self.step.max(added) <= MOST_ONES && self.is_invariant(divisor),
                };
                if is_worth_it {
                    found.push(Remainder {
                        value,
                        added,
                        divisor,
                    });
                }
            }
        }
        // Behind the loop it is known then, too.
        let is_inside = |one: &Remainder<'c>| self.blocks.contains(&one.value.block());
        let inside = found.iter().filter(|one| is_inside(one));
        let divisors: HashSet<_> = inside.map(|one| one.divisor).collect();
        found.retain(|one| divisors.contains(&one.divisor));
        found
    }

    fn is_invariant(&self, value: Value<'c>) -> bool {
        value.kind() != ValueKind::Instruction || !self.blocks.contains(&value.block())
    }

    /// Puts one counter in the place of remainders by the same divisor.
    fn replace(
        &self,
        divisor: Value<'c>,
        group: Vec<Remainder<'c>>,
        dominators: &Dominators<'c>,
        made: &mut Made<'c>,
    ) {
        let Some(ring) = Ring::new(self.phi, divisor, dominators) else {
            return;
        };
        for (start, block) in &self.starts {
            ring.begin(*start, *block, made);
        }
        let next = ring.plus(self.step);
        for latch in &self.latches {
            ring.phi.add_incoming(next, *latch);
        }
        for Remainder { value, added, .. } in group {
            ring.replace(value, ring.plus(added));
        }
    }
}

/// A phi whose remainder and one is its next value: `place = (place + 1) % n`.
fn ring<'c>(phi: Value<'c>, dominators: &Dominators<'c>, made: &mut Made<'c>) -> bool {
    for remainder in remainders_of(phi) {
        let Some(divisor) = remainder.operand(1) else {
            continue;
        };
        let is_next = |value: Value<'c>| sum(value) == Some((remainder, 1));
        let incoming = phi.incoming().into_iter();
        let (nexts, starts): (Vec<_>, Vec<_>) = incoming.partition(|(value, _)| is_next(*value));
        let latches: Vec<_> = nexts.into_iter().map(|(_, block)| block).collect();
        let blocks = blocks_of_loop(phi.block(), &latches, dominators);
        let is_inside = |block: Block<'c>| blocks.contains(&block);
        let is_invariant = divisor.kind() != ValueKind::Instruction || !is_inside(divisor.block());
        if latches.is_empty()
            || divisor.as_integer().is_some_and(|number| number < 2)
            || !is_invariant
            || starts.iter().any(|(_, block)| is_inside(*block))
        {
            continue;
        }
        let Some(ring) = Ring::new(phi, divisor, dominators) else {
            continue;
        };
        for (start, block) in starts {
            ring.begin(start, block, made);
        }
        let next = ring.plus(1);
        for latch in latches {
            ring.phi.add_incoming(next, latch);
        }
        ring.replace(remainder, ring.phi);
        return true;
    }
    false
}

/// The unsigned remainders whose dividend a value is.
fn remainders_of(dividend: Value<'_>) -> Vec<Value<'_>> {
    let users = dividend.users().into_iter();
    let mut found: Vec<_> = users
        .filter(|user| user.kind() == ValueKind::Instruction && user.opcode() == opcode::UREM)
        .filter(|user| user.operand(0) == Some(dividend) && user.operand(1) != Some(dividend))
        .collect();
    found.dedup();
    found
}

/// A sum of a value and a constant.
fn sum(value: Value<'_>) -> Option<(Value<'_>, u64)> {
    let is_sum = value.is_instruction()
        && (value.opcode() == opcode::ADD || value.opcode() == opcode::OR && value.is_disjoint());
    if !is_sum {
        return None;
    }
    Some((value.operand(0)?, value.operand(1)?.as_integer()?))
}

/// Whether a sum stays in its type.
fn never_wraps(sum: Value<'_>) -> bool {
    sum.opcode() == opcode::OR || sum.never_wraps()
}

/// The blocks from which a latch is reached without the loop's first block, and that block.
pub(super) fn blocks_of_loop<'c>(
    header: Block<'c>,
    latches: &[Block<'c>],
    dominators: &Dominators<'c>,
) -> HashSet<Block<'c>> {
    let mut inside = HashSet::from([header]);
    let mut open = latches.to_vec();
    while let Some(block) = open.pop() {
        if inside.insert(block) {
            open.extend(dominators.before(block));
        }
    }
    inside
}
