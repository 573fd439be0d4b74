//! The innermost loops of a function that have one way in, and one block from which they begin anew.

use std::collections::{HashMap, HashSet};

use crate::llvm::{Block, Value};

/// A loop, in the form that `loop-simplify` gives it.
pub(super) struct Loop<'c> {
    /// The block before it, which leads nowhere else.
    pub before: Block<'c>,
    /// The first block.
    pub header: Block<'c>,
    /// The block that leads back to the first one, and to one behind the loop.
    pub latch: Block<'c>,
    /// All blocks, in the function's order.
    pub blocks: Vec<Block<'c>>,
}

impl<'c> Loop<'c> {
    /// The block to which the latch leads otherwise.
    pub(super) fn behind(&self) -> Option<Block<'c>> {
        let mut to = self.latch.successors().into_iter();
        to.find(|to| *to != self.header)
    }
}

/// The blocks that lead to each one.
struct Leading<'c>(HashMap<Block<'c>, Vec<Block<'c>>>);

impl<'c> Leading<'c> {
    fn of(blocks: &[Block<'c>]) -> Leading<'c> {
        let mut leading: HashMap<_, Vec<_>> = HashMap::new();
        for &block in blocks {
            for next in block.successors() {
                leading.entry(next).or_default().push(block);
            }
        }
        Leading(leading)
    }

    fn to(&self, block: Block<'c>) -> &[Block<'c>] {
        self.0.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// All of them.
pub(super) fn innermost(function: Value<'_>) -> Vec<Loop<'_>> {
    let blocks = function.blocks();
    let leading = Leading::of(&blocks);
    let mut found: Vec<Loop<'_>> = Vec::new();
    for &header in &blocks {
        let [one, other] = *leading.to(header) else {
            continue;
        };
        for (before, latch) in [(one, other), (other, one)] {
            if before.successors() != [header] || latch.successors().len() != 2 {
                continue;
            }
            let Some(inside) = between(header, latch, before, &leading) else {
                continue;
            };
            // Any other way in would be a second entry.
            let enters = |block: &Block<'_>| {
                *block != header && leading.to(*block).iter().any(|from| !inside.contains(from))
            };
            let ends = latch.successors().iter().any(|to| !inside.contains(to));
            if ends && !inside.iter().any(enters) {
                let blocks = blocks.iter().copied();
                found.push(Loop {
                    before,
                    header,
                    latch,
                    blocks: blocks.filter(|block| inside.contains(block)).collect(),
                });
            }
        }
    }
    let headers: HashSet<_> = found.iter().map(|found| found.header).collect();
    found.retain(|one| {
        let inner = one.blocks.iter().filter(|block| headers.contains(block));
        inner.count() == 1 && !has_inner_cycle(one)
    });
    found
}

/// The blocks from which the latch is reached without passing the header, and the header; `None` if the block before the loop is one of
/// them: then it is no loop of this latch.
fn between<'c>(
    header: Block<'c>,
    latch: Block<'c>,
    before: Block<'c>,
    leading: &Leading<'c>,
) -> Option<HashSet<Block<'c>>> {
    let mut inside = HashSet::from([header]);
    let mut open = vec![latch];
    while let Some(block) = open.pop() {
        if block == before {
            return None;
        }
        if inside.insert(block) {
            open.extend(leading.to(block));
        }
    }
    Some(inside)
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
