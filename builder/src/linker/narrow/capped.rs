//! Comparisons in a loop of a number of 32 bits with one of 64 that the loop does not change.
//!
//! ```text
//!                                      short = min(length, 2^32 - 1)
//! round: if i < length                 round: if i < short
//! ```
//!
//! A length has 64 bits, and an index that was read, or a counter that something else bounds, has 32. A comparison of 64 bits is two
//! instructions, in each round. No number below 2^32 - 1 tells a larger one from that, so the length is cut off once, before the loop. Where the number may be
//! 2^32 - 1, it is compared with what is one less than the length, and all are inside or none, by whether the length is 0:
//!
//! ```text
//!                                      short = min(length - 1, 2^32 - 1), is_any = length != 0
//! round: if i < length                 round: if i <= short && is_any
//! ```

use rustc_hash::FxHashMap as HashMap;

use super::dominators::{Dominators, Loop};
use super::ranges::Range;
use super::values::Values;
use super::widths::{half, may_be_short, unsigned};
use crate::llvm::{Block, Place, Value, opcode, predicate};

/// Whether an instruction is a comparison of 64 bits.
pub(super) fn is_wide(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::ICMP && may_be_short(instruction)
}

/// Shortens such comparisons of a function.
pub(super) fn run<'c>(function: Value<'c>, dominators: &Dominators<'c>) {
    let values = Values::of(dominators);
    let loops = dominators.loops();
    let wide = function.instructions().into_iter().filter(|i| is_wide(*i));
    // All before the first is replaced: what is known of values stays known while they do.
    let found: Vec<_> = wide
        .filter_map(|comparison| {
            [0, 1].into_iter().find_map(|fixed| {
                Capped::of(comparison, fixed, &loops, &values)
                    .and_then(|capped| Some((capped, capped.end(dominators)?)))
            })
        })
        .collect();
    let mut limits = Limits::default();
    for (capped, before) in found {
        capped.replace(before, &mut limits);
    }
}

/// A comparison, and the loops around it.
#[derive(Clone, Copy)]
struct Capped<'c> {
    comparison: Value<'c>,
    /// The operand that the loop does not change, and the number that is compared with it.
    fixed: u32,
    length: Value<'c>,
    number: Value<'c>,
    /// The first block of the outermost loop in which the operand stays.
    header: Block<'c>,
    /// Whether the number may be 2^32 - 1.
    is_full: bool,
}

impl<'c> Capped<'c> {
    fn of(
        comparison: Value<'c>,
        fixed: u32,
        loops: &[Loop<'c>],
        values: &Values<'_, 'c>,
    ) -> Option<Capped<'c>> {
        let block = comparison.block();
        let (length, number) = (comparison.operand(fixed)?, comparison.operand(1 - fixed)?);
        let stays = |(_, blocks): &&Loop<'c>| {
            let is_made = length.is_instruction() && blocks.contains(&length.block());
            blocks.contains(&block) && !is_made
        };
        let around = loops.iter().filter(stays);
        let (header, _) = around.max_by_key(|(_, blocks)| blocks.len())?;
        let is_within = |value, most: i128| {
            let range = values.at(value, block);
            range.is_some_and(|range| range.is_in(Range::new(0, most)))
        };
        let capped = Capped {
            comparison,
            fixed,
            length,
            number,
            header: *header,
            is_full: !is_within(number, i128::from(u32::MAX) - 1),
        };
        let predicate = comparison.predicate();
        let is_right = length.as_integer().is_none()
            && is_within(number, u32::MAX.into())
            && (predicate == unsigned(predicate) || is_within(length, i64::MAX.into()))
            && (!capped.is_full || capped.order().is_some());
        is_right.then_some(capped)
    }

    /// The end of a block before all rounds, in which the length is known: it is known in the loop, and not made there.
    fn end(&self, dominators: &Dominators<'c>) -> Option<Value<'c>> {
        dominators.above(self.header)?.terminator()
    }

    /// Whether it asks for a number below the length, or else for one that is not.
    fn order(&self) -> Option<bool> {
        match (unsigned(self.comparison.predicate()), self.fixed) {
            (predicate::LESS, 1) | (predicate::GREATER, 0) => Some(true),
            (predicate::GREATER_OR_EQUAL, 1) | (predicate::LESS_OR_EQUAL, 0) => Some(false),
            _ => None,
        }
    }

    fn replace(self, before: Value<'c>, limits: &mut Limits<'c>) {
        let comparison = self.comparison;
        let short = half(self.number, comparison);
        let place = Place::before(comparison);
        let replacement = match self.order().filter(|_| self.is_full) {
            None => {
                let cap = limits.cap(self.length, before);
                let sides = match self.fixed {
                    0 => [cap, short],
                    _ => [short, cap],
                };
                let predicate = unsigned(comparison.predicate());
                place.comparison(predicate, sides[0], sides[1])
            }
            Some(is_less) => {
                let (last, is_any) = limits.last(self.length, before);
                let is_inside = place.comparison(predicate::LESS_OR_EQUAL, short, last);
                let is_inside = place.binary(opcode::AND, is_inside, is_any);
                match is_less {
                    true => is_inside,
                    false => place.binary(opcode::XOR, is_inside, place.constant(1, 1)),
                }
            }
        };
        comparison.replace_by(replacement);
    }
}

/// What was made of lengths before instructions.
#[derive(Default)]
struct Limits<'c> {
    caps: HashMap<(Value<'c>, Value<'c>), Value<'c>>,
    lasts: HashMap<(Value<'c>, Value<'c>), (Value<'c>, Value<'c>)>,
}

impl<'c> Limits<'c> {
    /// The length, or 2^32 - 1 if it is more.
    fn cap(&mut self, length: Value<'c>, before: Value<'c>) -> Value<'c> {
        let cap = self.caps.entry((length, before));
        *cap.or_insert_with(|| cut_off(length, Place::before(before)))
    }

    /// The last number below the length, or 2^32 - 1, and whether there is one.
    fn last(&mut self, length: Value<'c>, before: Value<'c>) -> (Value<'c>, Value<'c>) {
        let last = self.lasts.entry((length, before));
        *last.or_insert_with(|| {
            let place = Place::before(before);
            let last = place.binary(opcode::SUB, length, place.constant(64, 1));
            let is_any = place.comparison(predicate::NOT_EQUAL, length, place.constant(64, 0));
            (cut_off(last, place), is_any)
        })
    }
}

fn cut_off<'c>(number: Value<'c>, place: Place<'c>) -> Value<'c> {
    let most = place.constant(64, u32::MAX.into());
    let is_more = place.comparison(predicate::GREATER, number, most);
    let low = place.resized(number, 32);
    place.select(is_more, place.constant(32, u32::MAX.into()), low)
}
