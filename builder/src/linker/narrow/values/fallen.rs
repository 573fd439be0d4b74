//! Numbers that the rounds of a loop make smaller alone.
//!
//! ```text
//! rest = phi length, next
//! next = sub nuw rest, taken
//! ```
//!
//! What is left of a slice of which each round takes something. Each number is one that was brought into the loop, or less: a difference that would be greater is
//! no number at all.

use rustc_hash::FxHashSet as HashSet;

use super::Values;
use crate::linker::narrow::ranges::Range;
use crate::llvm::{Block, Value, ValueKind, opcode};

/// How many phis and differences are followed.
const MOST: usize = 32;

impl<'c> Values<'_, 'c> {
    /// What a phi of such numbers can be; `None` if it is none, or is made in another way, too.
    pub(super) fn fallen(&self, phi: Value<'c>, bits: u32, depth: u32) -> Option<Range> {
        let followed = followed(phi)?;
        let mut high = None;
        for (value, from, to) in brought(&followed) {
            if !self.dominators.is_reachable(from) {
                continue;
            }
            let range = self.range(value, bits, from, depth);
            let range = match to {
                Some(to) => self.on_edge(range, value, from, to, depth),
                None => range,
            };
            let is_number = range.is_non_negative();
            high = Some(is_number.then_some(range.high)?.max(high.unwrap_or(0)));
        }
        Some(Range::new(0, high?))
    }
}

/// A phi, and the phis and differences that it is made of; `None` if it is not made of itself by a difference.
pub(in crate::linker::narrow) fn followed(phi: Value<'_>) -> Option<Vec<Value<'_>>> {
    let mut followed = vec![phi];
    let mut seen = HashSet::from_iter([phi]);
    let (mut n, mut is_round) = (0, false);
    while let Some(&value) = followed.get(n) {
        n += 1;
        for source in sources(value).filter(|source| is_followed(*source)) {
            is_round |= source == phi;
            if seen.insert(source) {
                followed.push(source);
            }
        }
        if followed.len() > MOST {
            return None;
        }
    }
    let is_difference = |value: &Value<'_>| value.opcode() == opcode::SUB;
    (is_round && followed.iter().any(is_difference)).then_some(followed)
}

/// What is not followed, where it comes from, and the block of the phi that it is brought to.
fn brought<'c>(
    followed: &[Value<'c>],
) -> impl Iterator<Item = (Value<'c>, Block<'c>, Option<Block<'c>>)> {
    let all = followed.iter().flat_map(|value| match value.opcode() {
        opcode::PHI => {
            let incoming = value.incoming().into_iter();
            let brought = incoming.map(|(source, from)| (source, from, Some(value.block())));
            brought.collect::<Vec<_>>()
        }
        _ => {
            let source = value.operand(0);
            source
                .map(|source| (source, value.block(), None))
                .into_iter()
                .collect()
        }
    });
    all.filter(|(source, _, _)| !is_followed(*source))
}

/// The numbers of which one is not less than a value.
fn sources(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let all = match value.opcode() {
        opcode::PHI => value
            .incoming()
            .into_iter()
            .map(|(source, _)| source)
            .collect(),
        _ => Vec::from_iter(value.operand(0)),
    };
    all.into_iter()
}

/// Whether a value is a phi, or a difference that is no number where it would be greater than what something is taken from.
fn is_followed(value: Value<'_>) -> bool {
    value.kind() == ValueKind::Instruction
        && match value.opcode() {
            opcode::PHI => true,
            opcode::SUB => value.never_wraps(),
            _ => false,
        }
}
