//! Which blocks of a function every way to another one goes through.

use std::ops::Range;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::linker::loops;
use crate::llvm::{Block, Value};

/// A loop: a block to which others lead back, and all blocks from which these are reached, that one among them.
pub(in crate::linker) type Loop<'c> = (Block<'c>, Vec<Block<'c>>);

/// The dominators of a function's reachable blocks.
pub(in crate::linker) struct Dominators<'c> {
    function: Value<'c>,
    /// The reachable blocks, each after all that dominate it.
    order: Vec<Block<'c>>,
    number: HashMap<Block<'c>, usize>,
    /// The nearest dominator of each, by number; the first block's is itself.
    nearest: Vec<usize>,
    /// What each dominates, itself among it, as places in an order in which that is together.
    dominated: Vec<Range<usize>>,
    before: Vec<Vec<usize>>,
}

impl<'c> Dominators<'c> {
    pub(in crate::linker) fn of(function: Value<'c>) -> Dominators<'c> {
        let order = reverse_postorder(function);
        let number: HashMap<_, _> = order.iter().copied().zip(0..).collect();
        let mut before = vec![Vec::new(); order.len()];
        for (n, block) in order.iter().enumerate() {
            for next in block.successors() {
                before[number[&next]].push(n);
            }
        }
        const UNKNOWN: usize = usize::MAX;
        let mut nearest = vec![UNKNOWN; order.len()];
        if let Some(first) = nearest.first_mut() {
            *first = 0;
        }
        loop {
            let mut is_changed = false;
            for n in 1..order.len() {
                let known = before[n].iter().filter(|from| nearest[**from] != UNKNOWN);
                let common = known.copied().reduce(|a, b| meet(&nearest, a, b));
                if let Some(common) = common.filter(|common| nearest[n] != *common) {
                    nearest[n] = common;
                    is_changed = true;
                }
            }
            if !is_changed {
                break;
            }
        }
        Dominators {
            function,
            order,
            number,
            dominated: dominated(&nearest),
            nearest,
            before,
        }
    }

    /// The reachable blocks, each after all that dominate it.
    pub(in crate::linker) fn order(&self) -> &[Block<'c>] {
        &self.order
    }

    /// The instructions of the reachable blocks, in the function's order.
    pub(super) fn instructions(&self) -> Vec<Value<'c>> {
        let mut all = self.function.instructions();
        all.retain(|i| self.is_reachable(i.block()));
        all
    }

    /// Whether a block is reachable at all.
    pub(in crate::linker) fn is_reachable(&self, block: Block<'c>) -> bool {
        self.number.contains_key(&block)
    }

    /// The last block that every way to one of these goes through; all are reachable.
    pub(super) fn common(&self, blocks: impl Iterator<Item = Block<'c>>) -> Option<Block<'c>> {
        let numbers = blocks.map(|block| self.number.get(&block).copied());
        let numbers: Vec<_> = numbers.collect::<Option<_>>()?;
        let numbers = numbers.into_iter();
        let common = numbers.reduce(|a, b| meet(&self.nearest, a, b))?;
        Some(self.order[common])
    }

    /// The loops of the function, whatever their form.
    pub(in crate::linker) fn loops(&self) -> Vec<Loop<'c>> {
        let mut found = Vec::new();
        for &header in self.order() {
            let mut latches = self.before(header);
            latches.retain(|latch| self.dominates(header, *latch));
            if !latches.is_empty() {
                let inside = loops::inside(header, latches, |block| self.before(block));
                let mut numbers: Vec<_> = inside.iter().map(|block| self.number[block]).collect();
                numbers.sort_unstable();
                let blocks = numbers.into_iter().map(|number| self.order[number]);
                found.push((header, blocks.collect()));
            }
        }
        found
    }

    /// The block's nearest dominator, if the block is reachable and not the first one.
    pub(in crate::linker) fn above(&self, block: Block<'c>) -> Option<Block<'c>> {
        let number = *self.number.get(&block)?;
        (number != 0).then(|| self.order[self.nearest[number]])
    }

    /// Whether every way to a reachable block goes through this one.
    pub(in crate::linker) fn dominates(&self, block: Block<'c>, of: Block<'c>) -> bool {
        let dominated = |block| Some(&self.dominated[*self.number.get(&block)?]);
        let contains = || Some(dominated(block)?.contains(&dominated(of)?.start));
        block == of || contains().is_some_and(|contains| contains)
    }

    /// The only block that leads to this one, by one edge.
    pub(in crate::linker) fn only_before(&self, block: Block<'c>) -> Option<Block<'c>> {
        match self.before[*self.number.get(&block)?][..] {
            [only] => Some(self.order[only]),
            _ => None,
        }
    }

    /// The only block that leads to this one but for those that lead back to it, by one edge: what a branch decides on the way holds in all rounds of a
    /// loop.
    pub(super) fn entered_from(&self, block: Block<'c>) -> Option<Block<'c>> {
        let all = self.before(block).into_iter();
        let mut from = all.filter(|from| !self.dominates(block, *from));
        let only = from.next()?;
        from.next().is_none().then_some(only)
    }

    /// The reachable blocks that lead to this one.
    pub(in crate::linker) fn before(&self, block: Block<'c>) -> Vec<Block<'c>> {
        let numbers = self.number.get(&block).map(|n| &self.before[*n]);
        let numbers = numbers.into_iter().flatten();
        numbers.map(|n| self.order[*n]).collect()
    }
}

/// The nearest common dominator, where a block's number is above those of its dominators.
fn meet(nearest: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = nearest[a];
        } else {
            b = nearest[b];
        }
    }
    a
}

/// What each block dominates, from the nearest dominators, whose numbers are lower.
fn dominated(nearest: &[usize]) -> Vec<Range<usize>> {
    let mut sizes = vec![1; nearest.len()];
    for n in (1..nearest.len()).rev() {
        sizes[nearest[n]] += sizes[n];
    }
    let mut places: Vec<Range<usize>> = Vec::with_capacity(nearest.len());
    // Behind each block, where the next one that it dominates has its place.
    let mut next = Vec::with_capacity(nearest.len());
    for (n, (&above, size)) in nearest.iter().zip(sizes).enumerate() {
        let start = if n == 0 { 0 } else { next[above] };
        if n != 0 {
            next[above] += size;
        }
        places.push(start..start + size);
        next.push(start + 1);
    }
    places
}

fn reverse_postorder(function: Value<'_>) -> Vec<Block<'_>> {
    let mut order = Vec::new();
    let mut seen = HashSet::default();
    let mut open = Vec::new();
    if let Some(&first) = function.blocks().first() {
        seen.insert(first);
        open.push((first, first.successors()));
    }
    while let Some((block, rest)) = open.last_mut() {
        match rest.pop() {
            Some(next) if seen.insert(next) => open.push((next, next.successors())),
            Some(_) => {}
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}
