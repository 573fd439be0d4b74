//! Divisions by which an index is taken apart begin together.
//!
//! ```text
//! column = i % width                        column = i % width
//! branch 0 < column, inner, border          layer = i / (width * height)
//! inner: layer = i / (width * height)       branch 0 < column, inner, border
//! ```
//!
//! A division of run time begins with an approximate reciprocal, which takes some fifty cycles. Two in one block are computed at the same time; LLVM
//! moves each to the block that uses it. It is moved back to a block above with a division of the same number, by the same one, or of which it takes the
//! result; one above that is used behind that block alone comes down to it. Where a division is not needed the divisor may be 0: what
//! `quotients` makes of it gives some number then.

use rustc_hash::FxHashMap as HashMap;

use super::dominators::Dominators;
use super::quotients::{by_reciprocal, is_division};
use crate::linker::{joined_conditions, loops};
use crate::llvm::{Block, Place, Value, ValueKind, opcode};

/// How many divisions are moved to one block at most: each may be computed in vain.
const MOST: usize = 4;

/// How many operations may be executed in vain so that what is tested of the results is one condition.
const MOST_TESTED: usize = 12;

/// Moves the divisions of a function; whether there were any.
pub(super) fn run<'c>(function: Value<'c>, dominators: &Dominators<'c>) -> bool {
    let mut all = Vec::new();
    for &block in dominators.order() {
        let mut found = block.instructions();
        found.retain(|i| is_division(*i));
        // A thread that goes round in a loop may need it in some rounds alone, and one that panics needs no speed.
        if !found.is_empty() && !block.is_dead_end() && !loops::behind(block).contains(&block) {
            all.extend(found.into_iter().map(|division| (division, block)));
        }
    }
    let mut moved: HashMap<_, usize> = HashMap::default();
    for n in 0..all.len() {
        let (division, from) = all[n];
        let Some(to) = target(division, from, &all[..n], dominators) else {
            continue;
        };
        let to_there = moved.entry(to).or_default();
        if *to_there == MOST {
            continue;
        }
        *to_there += 1;
        let Some(early) = compute(division, to) else {
            continue;
        };
        division.replace_by(early);
        all[n] = (early, to);
    }
    let order = dominators.order().iter().copied();
    let targets: Vec<_> = order.filter(|block| moved.contains_key(block)).collect();
    for n in 0..all.len() {
        let (division, from) = all[n];
        // One that was moved up is none any more.
        let mut below = targets.iter().copied().filter(|_| is_division(division));
        let to = below.find(|to| is_later(division, from, *to, &all, dominators));
        if let Some((to, late)) = to.and_then(|to| Some((to, compute(division, to)?))) {
            division.replace_by(late);
            all[n] = (late, to);
        }
    }
    // ptxas would move what is used behind another branch alone back there.
    joined_conditions::join_behind(function, &targets, MOST_TESTED);
    !targets.is_empty()
}

/// The block to whose end a division is moved. The nearest one: above it fewer threads may be out of range, and no loads are under way.
fn target<'c>(
    division: Value<'c>,
    from: Block<'c>,
    before: &[(Value<'c>, Block<'c>)],
    dominators: &Dominators<'c>,
) -> Option<Block<'c>> {
    let is_to = |(other, to): &&(Value<'c>, Block<'c>)| {
        *to != from
            && dominators.dominates(*to, from)
            && is_related(division, *other)
            && (0..2).all(|n| is_known(division.operand(n), *to, dominators))
    };
    before.iter().rev().find(is_to).map(|(_, to)| *to)
}

/// Whether a division is computed with others further down, as it is used only behind them.
fn is_later<'c>(
    division: Value<'c>,
    from: Block<'c>,
    to: Block<'c>,
    all: &[(Value<'c>, Block<'c>)],
    dominators: &Dominators<'c>,
) -> bool {
    let is_behind = |user: Value<'c>| {
        let block = user.block();
        user.opcode() != opcode::PHI && block != to && dominators.dominates(to, block)
    };
    let mut others = all.iter().filter(|(_, block)| *block == to);
    from != to
        && dominators.dominates(from, to)
        && others.any(|(other, _)| is_related(division, *other))
        && division.users().into_iter().all(is_behind)
}

/// Whether two divisions are of one index.
fn is_related<'c>(division: Value<'c>, other: Value<'c>) -> bool {
    let of = |division: Value<'c>, n| division.operand(n).map(whole);
    let is_same = |n| of(division, n).is_some() && of(division, n) == of(other, n);
    is_same(0) || is_same(1) || of(division, 0) == Some(other)
}

/// The number of which an operand is the lower half.
fn whole(value: Value<'_>) -> Value<'_> {
    match value.kind() == ValueKind::Instruction && value.opcode() == opcode::TRUNC {
        true => value.operand(0).unwrap_or(value),
        false => value,
    }
}

/// Whether an operand is computed where a block ends.
fn is_known<'c>(operand: Option<Value<'c>>, at: Block<'c>, dominators: &Dominators<'c>) -> bool {
    let operand = operand.map(whole);
    operand.is_some_and(|value| {
        value.kind() != ValueKind::Instruction || dominators.dominates(value.block(), at)
    })
}

/// The result, computed at the end of a block.
fn compute<'c>(division: Value<'c>, to: Block<'c>) -> Option<Value<'c>> {
    let place = Place::before(to.terminator()?);
    let operand = |n| Some(place.resized(whole(division.operand(n)?), 32));
    Some(by_reciprocal(division, operand(0)?, operand(1)?, place))
}
