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

use super::bounds::{self, MOST_OF_32};
use super::dominators::Dominators;
use crate::llvm::{Block, Place, Value, ValueKind, opcode, predicate};

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
pub(super) fn run<'c>(function: Value<'c>, dominators: &Dominators<'c>) -> bool {
    let instructions = function.instructions().into_iter();
    let phis: Vec<_> = instructions
        .filter(|i| i.opcode() == opcode::PHI && matches!(i.integer_bits(), Some(32 | 64)))
        .filter(|phi| !phi.is_pointer() && dominators.is_reachable(phi.block()))
        .collect();
    let mut is_changed = false;
    for phi in phis {
        is_changed |= ring(phi, dominators);
        let Some(counter) = Counter::of(phi, dominators) else {
            continue;
        };
        let mut remainders = counter.remainders();
        while let Some(divisor) = remainders.first().map(|remainder| remainder.divisor) {
            let same = |remainder: &Remainder<'c>| remainder.divisor == divisor;
            let (group, rest) = remainders.into_iter().partition(same);
            counter.replace(divisor, group);
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
            (left == phi && value.never_wraps()).then_some(step)
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

    /// The remainders in the loop that take more instructions than a counter.
    fn remainders(&self) -> Vec<Remainder<'c>> {
        let bits = self.phi.integer_bits();
        let sums = self.phi.users().into_iter().filter_map(|user| {
            let (left, added) = sum(user)?;
            (left == self.phi && user.never_wraps()).then_some((user, added))
        });
        let dividends: Vec<_> = sums.chain([(self.phi, 0)]).collect();
        let mut found = Vec::new();
        for (dividend, added) in dividends {
            for value in remainders_of(dividend) {
                let Some(divisor) = value.operand(1) else {
                    continue;
                };
                let is_worth_it = match divisor.as_integer() {
                    // A multiplication says the remainder of 32 bits in as many instructions.
                    Some(number) => bits == Some(64) && (2..=1 << 62).contains(&number),
                    None => self.step == 1 && added <= 1 && self.is_invariant(divisor),
                };
                if is_worth_it && self.blocks.contains(&value.block()) {
                    found.push(Remainder {
                        value,
                        added,
                        divisor,
                    });
                }
            }
        }
        found
    }

    fn is_invariant(&self, value: Value<'c>) -> bool {
        value.kind() != ValueKind::Instruction || !self.blocks.contains(&value.block())
    }

    /// Puts one counter in the place of remainders by the same divisor.
    fn replace(&self, divisor: Value<'c>, group: Vec<Remainder<'c>>) {
        let Some(ring) = Ring::new(self.phi, divisor) else {
            return;
        };
        for (start, block) in &self.starts {
            ring.begin(*start, *block);
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

/// A counter below a divisor.
struct Ring<'c> {
    phi: Value<'c>,
    divisor: Value<'c>,
    bits: u32,
}

impl<'c> Ring<'c> {
    /// A counter in the block of the phi `of`, without incoming values.
    fn new(of: Value<'c>, divisor: Value<'c>) -> Option<Ring<'c>> {
        let wide = of.integer_bits()?;
        let most = bounds::most(divisor)?;
        // A constant is added to, which must not wrap around; a sum of a variable divisor and one never does.
        let is_narrow = match divisor.as_integer() {
            Some(number) => number <= 1 << 31,
            None => most <= MOST_OF_32,
        };
        let bits = if is_narrow { 32 } else { wide };
        let like = Place::before(of).constant(bits, 0);
        Some(Ring {
            phi: of.build_phi_before(like),
            divisor,
            bits,
        })
    }

    /// The first value, if the loop is entered from this block.
    fn begin(&self, start: Value<'c>, block: Block<'c>) {
        let Some(end) = block.terminator() else {
            return;
        };
        let place = Place::before(end);
        let first = match (start.as_integer(), self.divisor.as_integer()) {
            (Some(0), _) => place.constant(self.bits, 0),
            (Some(start), Some(divisor)) => place.constant(self.bits, start % divisor),
            _ => {
                let divisor = not_zero(place, self.divisor);
                let remainder = place.binary(opcode::UREM, start, divisor);
                place.resized(remainder, self.bits)
            }
        };
        self.phi.add_incoming(first, block);
    }

    /// The remainder of what is `added` further, in the block of the phi.
    fn plus(&self, added: u64) -> Value<'c> {
        let constant = self.divisor.as_integer();
        let added = constant.map_or(added, |divisor| added % divisor);
        let first = self.phi.block().instructions().into_iter();
        let mut others = first.filter(|i| i.opcode() != opcode::PHI);
        let (1.., Some(anchor)) = (added, others.next()) else {
            return self.phi;
        };
        let place = Place::before(anchor);
        let sum = place.binary(opcode::ADD, self.phi, place.constant(self.bits, added));
        let divisor = match constant {
            Some(number) => place.constant(self.bits, number),
            None => place.resized(self.divisor, self.bits),
        };
        match (constant, added) {
            (Some(_), 2..) => {
                let is_past = place.comparison(predicate::GREATER_OR_EQUAL, sum, divisor);
                let rest = place.binary(opcode::SUB, sum, divisor);
                place.select(is_past, rest, sum)
            }
            _ => {
                let is_end = place.comparison(predicate::EQUAL, sum, divisor);
                place.select(is_end, place.constant(self.bits, 0), sum)
            }
        }
    }

    fn replace(&self, remainder: Value<'c>, by: Value<'c>) {
        let place = Place::before(remainder);
        let wide = remainder.integer_bits().unwrap_or(self.bits);
        remainder.replace_uses_with(place.resized(by, wide));
        remainder.erase();
    }
}

/// A phi whose remainder and one is its next value: `place = (place + 1) % n`.
fn ring<'c>(phi: Value<'c>, dominators: &Dominators<'c>) -> bool {
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
        let Some(ring) = Ring::new(phi, divisor) else {
            continue;
        };
        for (start, block) in starts {
            ring.begin(start, block);
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
    if value.kind() != ValueKind::Instruction || value.opcode() != opcode::ADD {
        return None;
    }
    Some((value.operand(0)?, value.operand(1)?.as_integer()?))
}

/// A divisor, or 1 if it is 0.
pub(super) fn not_zero<'c>(place: Place<'c>, divisor: Value<'c>) -> Value<'c> {
    if divisor.as_integer().is_some_and(|number| number != 0) {
        return divisor;
    }
    let divisor = place.freeze(divisor);
    let zero = Value::integer_like(0, divisor);
    let is_zero = place.comparison(predicate::EQUAL, divisor, zero);
    place.select(is_zero, Value::integer_like(1, divisor), divisor)
}

/// The blocks from which a latch is reached without the loop's first block, and that block.
fn blocks_of_loop<'c>(
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
