//! The loops of a function that have one way in, and one block from which they begin anew: all that LLVM's `loop-simplify` leaves.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::llvm::{Block, Value, ValueKind};

/// What gives the loops of a function the form in which they are found.
pub(super) const SIMPLIFY: &str = "loop-simplify";

/// A loop, in the form that `loop-simplify` gives it.
#[derive(Clone)]
pub(super) struct Loop<'c> {
    /// The block before it, which leads nowhere else.
    pub before: Block<'c>,
    /// The first block.
    pub header: Block<'c>,
    /// The only block of the loop that leads back to the first one.
    pub latch: Block<'c>,
    /// All blocks, in the function's order.
    pub blocks: Vec<Block<'c>>,
}

impl<'c> Loop<'c> {
    /// The block behind the loop to which the latch leads; `None` if it leads back alone.
    pub(super) fn behind(&self) -> Option<Block<'c>> {
        let mut to = self.latch.successors().into_iter();
        to.find(|to| *to != self.header)
    }

    /// The blocks that each round goes through first, and where each leads on to inside: up to the latch, or to the first block that leads on to several.
    pub(super) fn first_blocks(&self) -> Vec<(Block<'c>, Block<'c>)> {
        let mut first = Vec::new();
        let mut block = self.header;
        while block != self.latch {
            let mut inside = block.successors();
            inside.retain(|to| self.blocks.contains(to));
            let &[next] = &inside[..] else {
                break;
            };
            first.push((block, next));
            block = next;
        }
        first
    }

    /// Whether no ways inside meet again that parted: each round that does not leave the loop goes through all blocks.
    pub(super) fn is_straight(&self) -> bool {
        let all = self.blocks.iter().flat_map(|block| block.successors());
        all.filter(|to| self.blocks.contains(to)).count() == self.blocks.len()
    }
}

/// Whether a value is made in a loop.
pub(super) fn is_inside<'c>(found: &Loop<'c>, value: Value<'c>) -> bool {
    value.kind() == ValueKind::Instruction && found.blocks.contains(&value.block())
}

/// The blocks that lead to each one.
pub(super) struct Leading<'c>(HashMap<Block<'c>, Vec<Block<'c>>>);

impl<'c> Leading<'c> {
    pub(super) fn of(blocks: &[Block<'c>]) -> Leading<'c> {
        let mut leading: HashMap<_, Vec<_>> = HashMap::default();
        for &block in blocks {
            for next in block.successors() {
                leading.entry(next).or_default().push(block);
            }
        }
        Leading(leading)
    }

    pub(super) fn to(&self, block: Block<'c>) -> &[Block<'c>] {
        self.0.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// All of them, in the order of their first blocks.
pub(super) fn all(function: Value<'_>) -> Vec<Loop<'_>> {
    let blocks = function.blocks();
    let leading = Leading::of(&blocks);
    let numbers: HashMap<_, _> = blocks.iter().copied().zip(0_usize..).collect();
    let mut found: Vec<Loop<'_>> = Vec::new();
    for &header in &blocks {
        let [one, other] = *leading.to(header) else {
            continue;
        };
        for (before, latch) in [(one, other), (other, one)] {
            if before.successors() != [header] {
                continue;
            }
            let inside = inside(header, vec![latch], |block| {
                leading.to(block).iter().copied()
            });
            // Then it is no loop of this latch.
            if inside.contains(&before) {
                continue;
            }
            // What is reached otherwise than through the header would be a second entry.
            let is_entered = |block: &Block<'_>| {
                let from = leading.to(*block);
                *block != header
                    && (from.is_empty() || from.iter().any(|from| !inside.contains(from)))
            };
            if !inside.iter().any(is_entered) {
                let mut blocks: Vec<_> = inside.into_iter().collect();
                blocks.sort_unstable_by_key(|block| numbers[block]);
                found.push(Loop {
                    before,
                    header,
                    latch,
                    blocks,
                });
            }
        }
    }
    found
}

/// Those that have no other loop inside, and end at the latch.
pub(super) fn innermost(function: Value<'_>) -> Vec<Loop<'_>> {
    let mut found = all(function);
    let headers: HashSet<_> = found.iter().map(|found| found.header).collect();
    found.retain(|one| {
        let inner = one.blocks.iter().filter(|block| headers.contains(block));
        let is_end = one.latch.successors().len() == 2 && one.behind().is_some();
        is_end && inner.count() == 1 && !has_inner_cycle(one)
    });
    found
}

/// The header, and the blocks from which blocks that lead back to it are reached without passing it.
pub(super) fn inside<'c, L: IntoIterator<Item = Block<'c>>>(
    header: Block<'c>,
    latches: Vec<Block<'c>>,
    leading_to: impl Fn(Block<'c>) -> L,
) -> HashSet<Block<'c>> {
    let mut inside = HashSet::from_iter([header]);
    let mut open = latches;
    while let Some(block) = open.pop() {
        if inside.insert(block) {
            open.extend(leading_to(block));
        }
    }
    inside
}

/// Whether a way inside leads round without the header.
fn has_inner_cycle(one: &Loop<'_>) -> bool {
    // Blocks are taken off that nothing leads to any more, but for the header.
    let mut rest: HashSet<_> = one.blocks.iter().copied().collect();
    rest.remove(&one.header);
    loop {
        let reached: HashSet<_> = rest
            .iter()
            .flat_map(|block| block.successors())
            .filter(|to| rest.contains(to))
            .collect();
        if reached.len() == rest.len() {
            return !rest.is_empty();
        }
        rest = reached;
    }
}

/// All blocks that a block leads to, directly or not: itself among them if it is in a loop.
pub(super) fn behind(block: Block<'_>) -> HashSet<Block<'_>> {
    let mut behind = HashSet::default();
    let mut open = block.successors();
    while let Some(next) = open.pop() {
        if behind.insert(next) {
            open.extend(next.successors());
        }
    }
    behind
}
