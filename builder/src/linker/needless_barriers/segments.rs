//! The parts of a function between barriers.
//!
//! A block is one segment, or several that end at its barriers and a last one that ends with the block. From segment to segment lead the ways on
//! which no barrier is passed.

use std::collections::HashMap;

use crate::linker::barriers;
use crate::llvm::{Block, Value};

/// Instructions that are executed one after the other, with no barrier between.
pub(super) struct Segment<'c> {
    pub block: Block<'c>,
    /// Without the barrier.
    pub instructions: Vec<Value<'c>>,
    /// The barrier that ends it; `None` if the block does.
    pub barrier: Option<Value<'c>>,
    /// Where it leads without a barrier: nowhere, if one ends it.
    pub next: Vec<usize>,
    /// Where it leads past its barrier.
    pub behind: Option<usize>,
    /// From where it is reached without a barrier.
    before: Vec<usize>,
}

/// All segments of a function.
pub(super) struct Segments<'c> {
    pub all: Vec<Segment<'c>>,
    first: HashMap<Block<'c>, usize>,
}

impl<'c> Segments<'c> {
    pub(super) fn of(function: Value<'c>) -> Segments<'c> {
        let mut all: Vec<Segment<'c>> = Vec::new();
        let mut first = HashMap::new();
        for block in function.blocks() {
            first.insert(block, all.len());
            let mut instructions = Vec::new();
            for instruction in block.instructions() {
                if !barriers::is_barrier(instruction) {
                    instructions.push(instruction);
                    continue;
                }
                all.push(Segment {
                    block,
                    instructions: std::mem::take(&mut instructions),
                    barrier: Some(instruction),
                    next: Vec::new(),
                    behind: Some(all.len() + 1),
                    before: Vec::new(),
                });
            }
            all.push(Segment {
                block,
                instructions,
                barrier: None,
                next: Vec::new(),
                behind: None,
                before: Vec::new(),
            });
        }
        for n in 0..all.len() {
            if all[n].barrier.is_some() {
                continue;
            }
            for to in all[n].block.successors() {
                let to = first[&to];
                all[n].next.push(to);
                all[to].before.push(n);
            }
        }
        Segments { all, first }
    }

    /// The first segment of a block.
    pub(super) fn of_block(&self, block: Block<'c>) -> usize {
        self.first[&block]
    }

    /// Those that end at barriers.
    pub(super) fn with_barriers(&self) -> impl Iterator<Item = usize> {
        (0..self.all.len()).filter(|n| self.all[*n].barrier.is_some())
    }

    /// These, and those that are reached from them without passing a barrier.
    pub(super) fn until_barriers(&self, from: impl IntoIterator<Item = usize>) -> Vec<usize> {
        self.reached(from, |segment| &segment.next)
    }

    /// This one, and those from which it is reached without passing a barrier.
    pub(super) fn since_barriers(&self, to: usize) -> Vec<usize> {
        self.reached([to], |segment| &segment.before)
    }

    fn reached(
        &self,
        from: impl IntoIterator<Item = usize>,
        beside: for<'s> fn(&'s Segment<'c>) -> &'s [usize],
    ) -> Vec<usize> {
        let mut is_reached = vec![false; self.all.len()];
        let mut reached = Vec::new();
        let mut open: Vec<usize> = from.into_iter().collect();
        while let Some(n) = open.pop() {
            if !std::mem::replace(&mut is_reached[n], true) {
                reached.push(n);
                open.extend(beside(&self.all[n]));
            }
        }
        reached
    }
}
