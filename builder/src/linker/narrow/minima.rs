//! Minima and maxima of 64 bits, of numbers that have 32 where the result is used.
//!
//! An index is clamped before it is known that there is anything to index: `n - 1` has 64 bits where `n` is 0. Behind the check of another
//! index it has not, so the minimum is made there. No way there is longer than the one here, as nothing else leads there.

use super::bounds::{self, MOST_OF_32};
use super::dominators::Dominators;
use crate::llvm::{Block, Module, Place, Value, opcode};

/// Whether an instruction is a minimum or maximum of unsigned numbers of 64 bits.
pub(super) fn is_wide(instruction: Value<'_>) -> bool {
    let callee = instruction.is_call().then(|| instruction.callee());
    let name = callee.flatten().map(Value::name).unwrap_or_default();
    matches!(&name[..], "llvm.umin.i64" | "llvm.umax.i64")
}

/// Shortens those of a function that can be.
pub(super) fn run<'c>(module: &Module<'c>, dominators: &Dominators<'c>) {
    let mut all = dominators.instructions();
    all.retain(|i| is_wide(*i));
    for wide in all {
        let places = places(wide, dominators);
        let (Some(left), Some(right)) = (wide.operand(0), wide.operand(1)) else {
            continue;
        };
        let is_small = |value, block| {
            let most = bounds::most_at(value, block, dominators);
            most.is_some_and(|most| most <= MOST_OF_32)
        };
        let mut small = places
            .into_iter()
            .filter(|place| is_small(left, place.block()) && is_small(right, place.block()));
        let Some((callee, anchor)) = wide.callee().zip(small.next()) else {
            continue;
        };
        let place = Place::before(anchor);
        let (left, right) = (place.resized(left, 32), place.resized(right, 32));
        let name = callee.name().replace(".i64", ".i32");
        let short = module.declaration(&name, left.ty(), &[left.ty(), right.ty()]);
        let short = anchor.build_call_before(short, &[left, right]);
        wide.replace_by(place.resized(short, 64));
    }
}

/// The instructions before which a value may be computed instead, the nearest first.
fn places<'c>(value: Value<'c>, dominators: &Dominators<'c>) -> Vec<Value<'c>> {
    let users = value
        .users()
        .into_iter()
        .flat_map(|user| match user.opcode() {
            opcode::PHI => {
                let incoming = user.incoming().into_iter();
                let incoming = incoming.filter(|(incoming, _)| *incoming == value);
                incoming.map(|(_, from)| from).collect()
            }
            _ => vec![user.block()],
        });
    let mut blocks: Vec<Block<'c>> = Vec::new();
    let mut at = dominators.common(users);
    while let Some(block) = at.filter(|block| *block != value.block()) {
        blocks.push(block);
        at = dominators.above(block);
    }
    let mut places = vec![value];
    let mut last = value.block();
    for block in blocks.into_iter().rev() {
        let mut begin = block.instructions().into_iter();
        let begin = begin.find(|i| i.opcode() != opcode::PHI);
        let (Some(begin), true) = (begin, dominators.only_before(block) == Some(last)) else {
            break;
        };
        places.push(begin);
        last = block;
    }
    places
}
