//! Loads of what nothing writes are made before the barriers that they stand behind.
//!
//! ```text
//!                                                 if block < starts.len() { start = load starts[block] }
//! x = load values[i]                              x = load values[i]
//! ..                                              ..
//! barrier                                         barrier
//! if block >= starts.len() { panic }              if block >= starts.len() { panic }
//! .. load starts[block] ..                        .. start ..
//! ```
//!
//! Memory answers late, and a load behind a barrier waits after all others have been waited for. ptxas makes it before the barrier, unless a check
//! is between, which may end the thread. So the load is made where its index is known, if the slice has the element by a test of its own; the
//! program's check stays where it is. The slice is a parameter that the kernel only reads: its elements are the same at any time.
//!
//! Only loads that most threads come to behind the barrier: between the two there are checks alone, or the index is the same for all threads of the block.

use rustc_hash::FxHashSet as HashSet;

use super::address_alignment;
use super::barriers::is_barrier;
use super::cold_values::cold;
use super::narrow::dominators::Dominators;
use super::read_only_slices::{Part, computed_before, is_part_of_address};
use super::uniform::Uniform;
use crate::llvm::{Block, Module, Place, Value, opcode, predicate};

/// How many loads of a function are made early at most: each holds its registers over the barrier.
const MOST: usize = 4;

/// How many bytes each of them gives.
const MOST_BYTES: u64 = 8;

/// Makes such loads early in all functions.
pub(super) fn make(module: &Module<'_>) {
    for function in module.functions() {
        if function.instructions().into_iter().any(is_barrier) {
            let found = Search::of(module, function).all();
            for early in found.into_iter().take(MOST) {
                early.make(module, function);
            }
        }
    }
}

struct Search<'m, 'c> {
    module: &'m Module<'c>,
    function: Value<'c>,
    dominators: Dominators<'c>,
    uniform: Uniform<'c>,
    cold: HashSet<Block<'c>>,
    in_loops: HashSet<Block<'c>>,
}

/// A load, and the instruction before which it is to be made. What its address is computed from may be another one, in whose place another value comes.
struct Early<'c> {
    load: Value<'c>,
    before: Value<'c>,
}

impl<'m, 'c> Search<'m, 'c> {
    fn of(module: &'m Module<'c>, function: Value<'c>) -> Search<'m, 'c> {
        let dominators = Dominators::of(function);
        let loops = dominators.loops().into_iter();
        Search {
            module,
            function,
            uniform: Uniform::of(function),
            cold: cold(&function.blocks()),
            in_loops: loops.flat_map(|(_, blocks)| blocks).collect(),
            dominators,
        }
    }

    fn all(&self) -> Vec<Early<'c>> {
        let all = self.function.instructions().into_iter();
        let found = all.filter(|i| i.opcode() == opcode::LOAD);
        found.filter_map(|load| self.early(load)).collect()
    }

    fn early(&self, load: Value<'c>) -> Option<Early<'c>> {
        let block = load.block();
        let bytes = self.module.size_of(load.ty());
        let is_once = self.dominators.is_reachable(block)
            && !self.cold.contains(&block)
            && !self.in_loops.contains(&block);
        let address = load.operand(0).filter(|_| is_once)?;
        let part = Part::of_load(self.module, load)?;
        let is_right = bytes <= MOST_BYTES
            && [Some(part.number), part.number.extended()].contains(&Some(part.index))
            // Said of the old load, it holds where that is made.
            && address_alignment::of(self.module, address) >= load.alignment();
        let before = self.known_before(address, block).filter(|_| is_right)?;
        let at = before.block();
        let is_behind =
            at != block && !self.in_loops.contains(&at) && self.waits(load, part, before);
        is_behind.then_some(Early { load, before })
    }

    /// The first barrier, or else end of a block, before which an address may be computed that is known in `block`.
    fn known_before(&self, address: Value<'c>, block: Block<'c>) -> Option<Value<'c>> {
        let mut made: HashSet<Value<'c>> = HashSet::default();
        let mut open = vec![address];
        while let Some(value) = open.pop() {
            if is_part_of_address(value) {
                open.extend((0..value.operand_count()).filter_map(|n| value.operand(n)));
            } else if value.is_instruction() {
                made.insert(value);
            }
        }
        let mut at = block;
        while made.iter().all(|value| value.block() != at) {
            match self.dominators.above(at) {
                Some(above) => at = above,
                None => break,
            }
        }
        let instructions = at.instructions();
        let last = instructions.iter().rposition(|one| made.contains(one));
        let mut behind = instructions[last.map_or(0, |last| last + 1)..].iter();
        behind
            .find(|one| is_barrier(**one) || one.is_terminator())
            .copied()
    }

    /// Whether a load stands behind a barrier that is not before this instruction, and most threads come from there to it.
    fn waits(&self, load: Value<'c>, part: Part<'c>, from: Value<'c>) -> bool {
        let is_for_all = self.uniform.contains(part.index);
        let mut block = load.block();
        let before_load = |other: &Value<'c>| *other != load;
        let instructions = block.instructions().into_iter();
        if instructions.take_while(before_load).any(is_barrier) {
            return true;
        }
        while let Some(above) = self.dominators.above(block) {
            let ways = above.successors().into_iter();
            let is_check = ways.filter(|way| !self.cold.contains(way)).count() == 1;
            if !is_for_all && !is_check {
                return false;
            }
            if above == from.block() {
                return is_barrier(from);
            }
            if above.instructions().into_iter().any(is_barrier) {
                return true;
            }
            block = above;
        }
        false
    }
}

impl<'c> Early<'c> {
    /// Makes the load where it is known that the slice has the element.
    fn make(self, module: &Module<'c>, function: Value<'c>) {
        let Early { load, before } = self;
        let Some((part, address)) = Part::of_load(module, load).zip(load.operand(0)) else {
            return;
        };
        let place = Place::before(before);
        // What is said of it may hold behind the barrier alone: some number then, and the slice has that element or not.
        let known = |value| (!is_part_of_address(value)).then_some(value);
        let number = place.freeze(computed_before(before, part.number, &known));
        let is_there = place.comparison(predicate::LESS, number, part.slice.length);
        let rest = before.block();
        let head = rest.split_before(before, function);
        let there = function.append_block();
        let jump = there.push_jump(rest);
        head.push_branch(is_there, there, rest);
        let known = |value| match value == part.number {
            true => Some(number),
            false => known(value),
        };
        let address = computed_before(jump, address, &known);
        let new = jump.build_load_before(load.ty(), address, load.alignment());
        let value = before.build_phi_before(new);
        value.add_incoming(new, there);
        value.add_incoming(Value::undefined(new.ty(), new), head);
        load.replace_by(value);
    }
}
