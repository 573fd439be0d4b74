//! An address that several branches take is computed before they part.
//!
//! ```text
//!                                                at = address picture, place
//! if x > 0: load address(picture, place) - 4     if x > 0: load at - 4
//! if x < n: load address(picture, place) + 4     if x < n: load at + 4
//! ```
//!
//! Each neighbour of a pixel is looked at where a check has found that it is there, and its address is the place of the pixel in the picture and a constant. LLVM computes
//! it once for each of the checks, as none of them is behind another one; an address of 64 bits takes two instructions. Here it is computed once, in the nearest block
//! from which all of them are reached, if that is in the same loops as they are, and if a thread may come to several of them.

use rustc_hash::FxHashSet as HashSet;

use super::addresses::{WIDE, is_sum};
use super::dominators::{Dominators, Loop};
use crate::linker::cold_values::cold;
use crate::llvm::{Block, Module, Place, Value, opcode};

/// How many sums of sums are looked into.
const DEPTH: u32 = 3;

/// How many numbers an index may be the sum of, beside a constant.
const MOST_TERMS: usize = 3;

/// Whether an instruction is an address of a variable element.
pub(super) fn is_element(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::GET_ELEMENT_POINTER
        && instruction.operand_count() == 2
        && WIDE.contains(&instruction.address_space())
        && instruction
            .operand(1)
            .is_some_and(|index| index.as_integer().is_none())
}

/// Computes such addresses of a function once.
pub(super) fn run<'c>(module: &Module<'c>, function: Value<'c>, dominators: &Dominators<'c>) {
    let cold = cold(&function.blocks());
    let loops = dominators.loops();
    let mut groups: Vec<Group<'c>> = Vec::new();
    for address in function.instructions() {
        let block = address.block();
        let is_taken = !cold.contains(&block) && dominators.is_reachable(block);
        if let Some((element, added)) = Element::of(module, address).filter(|_| is_taken) {
            let known = groups.iter_mut().find(|group| group.element.is(&element));
            match known {
                Some(group) => group.addresses.push((address, added)),
                None => groups.push(Group {
                    element,
                    addresses: vec![(address, added)],
                }),
            }
        }
    }
    for group in groups {
        if let Some(before) = group.place(&loops, dominators) {
            group.compute(before);
        }
    }
}

/// An element by what varies of its index: the numbers of which it is the sum. It is compared before anything is replaced.
#[derive(Clone)]
struct Element<'c> {
    base: Value<'c>,
    terms: Vec<Value<'c>>,
    size: u64,
}

impl<'c> Element<'c> {
    /// That of an address, and the constant that is added to the index.
    fn of(module: &Module<'c>, address: Value<'c>) -> Option<(Element<'c>, u64)> {
        let [base, index] = [0, 1].map(|n| address.operand(n).filter(|_| is_element(address)));
        let mut element = Element {
            base: base?,
            terms: Vec::new(),
            size: module.size_of(address.element_type()),
        };
        let added = element.take(index?, DEPTH)?;
        (1..=MOST_TERMS)
            .contains(&element.terms.len())
            .then_some((element, added))
    }

    /// Takes the terms of a sum; gives the constant one.
    fn take(&mut self, sum: Value<'c>, depth: u32) -> Option<u64> {
        if let Some(constant) = sum.as_integer() {
            return Some(constant);
        }
        if !is_sum(sum) || depth == 0 {
            self.terms.push(sum);
            return Some(0);
        }
        let left = self.take(sum.operand(0)?, depth - 1)?;
        let right = self.take(sum.operand(1)?, depth - 1)?;
        Some(left.wrapping_add(right))
    }

    fn is(&self, other: &Element<'c>) -> bool {
        let mut rest = other.terms.clone();
        let all_found = self.terms.iter().all(|term| {
            let found = rest.iter().position(|one| one == term);
            found.map(|n| rest.swap_remove(n)).is_some()
        });
        all_found && rest.is_empty() && (self.base, self.size) == (other.base, other.size)
    }
}

/// Addresses that differ by constants.
struct Group<'c> {
    element: Element<'c>,
    addresses: Vec<(Value<'c>, u64)>,
}

impl<'c> Group<'c> {
    /// The end of the block before which they part; `None` if there are not several ways.
    fn place(&self, loops: &[Loop<'c>], dominators: &Dominators<'c>) -> Option<Value<'c>> {
        let mut blocks: Vec<_> = self.addresses.iter().map(|one| one.0.block()).collect();
        blocks.dedup();
        let before = dominators.common(blocks.iter().copied())?;
        let is_same_round = |(_, inside): &Loop<'c>| {
            let is_before = inside.contains(&before);
            blocks
                .iter()
                .all(|block| inside.contains(block) == is_before)
        };
        // What one of them computes before the others is found by LLVM.
        let is_right = blocks.len() > 1
            && !blocks.contains(&before)
            && loops.iter().all(is_same_round)
            && leads_to_another(&blocks, before);
        before.terminator().filter(|_| is_right)
    }

    fn compute(self, before: Value<'c>) {
        let Element { terms, size, .. } = self.element;
        let Some((first, _)) = self.addresses.first() else {
            return;
        };
        let place = Place::before(before);
        let sum = terms
            .into_iter()
            .reduce(|a, b| place.binary(opcode::ADD, a, b));
        // Another group's address may have been the base: this is what came in its place.
        let (Some(base), Some(index)) = (first.operand(0), sum) else {
            return;
        };
        let common = before.build_address_before(first.element_type(), base, index);
        for (address, added) in self.addresses {
            address.replace_by(match added.wrapping_mul(size) {
                0 => common,
                offset => address.build_offset_before(common, offset),
            });
        }
    }
}

/// Whether a thread that comes to one of these blocks may come to another one before it comes here again.
fn leads_to_another<'c>(blocks: &[Block<'c>], here: Block<'c>) -> bool {
    blocks.iter().any(|from| {
        let mut seen = HashSet::from_iter([here]);
        let mut open = from.successors();
        while let Some(block) = open.pop() {
            if seen.insert(block) {
                if block != *from && blocks.contains(&block) {
                    return true;
                }
                open.extend(block.successors());
            }
        }
        false
    })
}
