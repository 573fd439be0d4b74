//! Loads that give the same in all rounds of a loop are made before it, also those that not every round makes.
//!
//! ```text
//! if i < queries.len()                            if i < queries.len()
//!     loop                                            x = load queries[i]
//!         if nodes[n].is_far { continue }             loop
//!         x = load queries[i]                             if nodes[n].is_far { continue }
//!         ..                                              ..
//! ```
//!
//! LLVM moves a load out of a loop only if each round makes it, or if it knows that something lies at the address. It does not know so of elements of
//! slices. Of a slice that is a parameter of the kernel the length is known, and nothing writes it while the kernel runs. So a load of an element
//! may be made before the loop if that is reached only where the slice has the element: a branch on the way has compared the element's number with
//! this slice's own length, or the thread has loaded another part of the same element. That a load is made though no round would have made it changes nothing then,
//! but a new load is made in the place of the old one: what that one says of its value may be so only where it is made.

use super::address_alignment;
use super::loops::{self, Loop, is_inside};
use super::narrow::decided;
use super::narrow::dominators::Dominators;
use super::read_only_slices::{Part, computed_before, is_part_of_address};
use crate::llvm::{Block, Module, Value, opcode, predicate};

/// How many loads are made before a loop and those around it, at most.
const MOST_LOADS: usize = 8;

/// How many bytes they give: 16 registers.
const MOST_BYTES: u64 = 64;

/// What follows: what stood between the loads.
const CLEAN_UP: &str = "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Moves such loads of all kernels.
pub(super) fn hoist(module: &Module<'_>) -> Result<(), String> {
    let mut is_changed = false;
    for function in module.functions() {
        is_changed |= in_function(module, function)?;
    }
    match is_changed {
        true => module.run_passes(CLEAN_UP, None),
        false => Ok(()),
    }
}

fn in_function<'c>(module: &Module<'c>, function: Value<'c>) -> Result<bool, String> {
    let is_part = |i| Part::of_load(module, i).is_some();
    if !function.instructions().into_iter().any(is_part) {
        return Ok(false);
    }
    // Phis of which parts are computed may go with it.
    module.run_passes_on(function, loops::SIMPLIFY)?;
    let mut loops = loops::all(function);
    if loops.is_empty() {
        return Ok(false);
    }
    let all = function.instructions().into_iter();
    let parts = all
        .filter_map(|i| Some((i, Part::of_load(module, i)?)))
        .collect();
    // What is moved out of a loop is in none that is inside of it.
    loops.sort_by_key(|found| std::cmp::Reverse(found.blocks.len()));
    let mut search = Search {
        module,
        dominators: Dominators::of(function),
        parts,
        moved: Vec::new(),
    };
    for found in &loops {
        search.hoist_out_of(found);
    }
    Ok(!search.moved.is_empty())
}

struct Search<'m, 'c> {
    module: &'m Module<'c>,
    dominators: Dominators<'c>,
    /// The loads of elements, in the function's order.
    parts: Vec<(Value<'c>, Part<'c>)>,
    /// What was moved: out of which blocks, and how many bytes it gives.
    moved: Vec<(Vec<Block<'c>>, u64)>,
}

impl<'c> Search<'_, 'c> {
    fn hoist_out_of(&mut self, found: &Loop<'c>) {
        if !self.dominators.is_reachable(found.before) {
            return;
        }
        let Some(end) = found.before.terminator() else {
            return;
        };
        let mut made: Vec<(Value<'c>, Value<'c>)> = Vec::new();
        for n in 0..self.parts.len() {
            let (load, part) = self.parts[n];
            let Some(address) = load.operand(0).filter(|_| is_inside(found, load)) else {
                continue;
            };
            let is_same =
                |(other, new): &&(Value<'c>, Value<'c>)| *other == address && new.ty() == load.ty();
            let new = match made.iter().find(is_same) {
                Some((_, new)) => *new,
                None if self.may_be_before(found, load, address, part) => {
                    let known = |value| (!is_inside(found, value)).then_some(value);
                    let before = computed_before(end, address, &known);
                    let new = end.build_load_before(load.ty(), before, load.alignment());
                    let size = self.module.size_of(load.ty());
                    self.moved.push((found.blocks.clone(), size));
                    made.push((address, new));
                    new
                }
                None => continue,
            };
            load.replace_by(new);
            self.parts[n].0 = new;
            for (_, part) in &mut self.parts {
                for value in [&mut part.index, &mut part.number] {
                    if *value == load {
                        *value = new;
                    }
                }
            }
        }
    }

    fn may_be_before(
        &self,
        found: &Loop<'c>,
        load: Value<'c>,
        address: Value<'c>,
        part: Part<'c>,
    ) -> bool {
        is_computed_before(found, address)
            && self.has_room(found, self.module.size_of(load.ty()))
            // Said of the old load, it holds where that was made.
            && address_alignment::of(self.module, address) >= load.alignment()
            && self.is_there(found, part)
    }

    /// Whether one more value of this size is not too much for a loop.
    fn has_room(&self, found: &Loop<'c>, size: u64) -> bool {
        let around = self
            .moved
            .iter()
            .filter(|(blocks, _)| blocks.contains(&found.header));
        let sizes: Vec<_> = around.map(|(_, size)| *size).collect();
        sizes.len() < MOST_LOADS && sizes.into_iter().sum::<u64>() + size <= MOST_BYTES
    }

    /// Whether a slice has an element wherever a loop is come to.
    fn is_there(&self, found: &Loop<'c>, part: Part<'c>) -> bool {
        let before = found.before;
        let mut edges = decided::edges(before, &self.dominators);
        let is_compared = edges.any(|(from, to)| {
            decided::condition(from, to).is_some_and(|(condition, holds)| {
                let comparisons = decided::comparisons(condition, holds).into_iter();
                let mut comparisons = comparisons.map(|(test, holds)| part.is_below(test, holds));
                comparisons.any(|is_below| is_below)
            })
        });
        is_compared
            || self.parts.iter().any(|(load, other)| {
                part.is_of_element_of(*other)
                    && !is_inside(found, *load)
                    && self.dominators.is_reachable(load.block())
                    && self.dominators.dominates(load.block(), before)
            })
    }
}

impl<'c> Part<'c> {
    /// Whether a comparison that is `holds` says that the slice has the element.
    fn is_below(self, test: Value<'c>, holds: bool) -> bool {
        let (Some(left), Some(right)) = (test.operand(0), test.operand(1)) else {
            return false;
        };
        let length = self.slice.length;
        let compared = match (test.predicate(), holds) {
            (predicate::LESS, true) | (predicate::GREATER_OR_EQUAL, false) if right == length => {
                left
            }
            (predicate::GREATER, true) | (predicate::LESS_OR_EQUAL, false) if left == length => {
                right
            }
            _ => return false,
        };
        let is_extension =
            |value: Value<'c>| value.is_instruction() && value.opcode() == opcode::ZEXT;
        let is_index = compared == self.index
            || is_extension(compared) && compared.operand(0) == Some(self.index);
        // An extension that says that its number is not negative is poison where it is, unless it is what was compared.
        let may_be_poison = is_extension(self.number) && self.number.is_of_non_negative();
        is_index && (!may_be_poison || compared == self.number)
    }

    /// Whether both are parts of one element, which the slice has if the other part was loaded.
    fn is_of_element_of(self, other: Part<'c>) -> bool {
        let is_same = self.slice == other.slice && self.number == other.number;
        // Otherwise the other one may lie elsewhere, as sums of addresses may wrap around.
        is_same && other.element.is_inbounds()
    }
}

/// Whether an address is known before a loop, or may be computed there.
fn is_computed_before<'c>(found: &Loop<'c>, value: Value<'c>) -> bool {
    let mut operands = (0..value.operand_count()).map(|n| value.operand(n));
    !is_inside(found, value)
        || is_part_of_address(value)
            && operands.all(|operand| operand.is_some_and(|one| is_computed_before(found, one)))
}
