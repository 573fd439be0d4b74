//! What is reached through one edge of the control flow only.

use rustc_hash::FxHashSet as HashSet;

use crate::llvm::{Block, Value, opcode};

/// The way from a block to one of its two successors.
pub(in crate::linker) struct Edge<'c> {
    pub from: Block<'c>,
    to: Block<'c>,
    /// The blocks to which no other way leads; found when it is first asked for.
    region: Option<HashSet<Block<'c>>>,
}

impl<'c> Edge<'c> {
    pub(in crate::linker) fn new(from: Block<'c>, to: Block<'c>) -> Edge<'c> {
        Edge {
            from,
            to,
            region: None,
        }
    }

    /// Whether the operand `n` of an instruction is used only after the edge was gone along.
    pub(in crate::linker) fn leads_to_use(&mut self, user: Value<'c>, n: u32) -> bool {
        if user.opcode() != opcode::PHI {
            return self.leads_to(user.block());
        }
        user.incoming().get(n as usize).is_some_and(|(_, from)| {
            (*from == self.from && user.block() == self.to) || self.leads_to(*from)
        })
    }

    /// Whether a block is reached only along the edge.
    pub(super) fn leads_to(&mut self, block: Block<'c>) -> bool {
        self.region().contains(&block)
    }

    fn region(&mut self) -> &HashSet<Block<'c>> {
        let (from, to) = (self.from, self.to);
        self.region.get_or_insert_with(|| region(from, to))
    }
}

/// What is not reached from the function's entry without the edge.
fn region<'c>(from: Block<'c>, to: Block<'c>) -> HashSet<Block<'c>> {
    let Some(function) = from.terminator().and_then(Value::function) else {
        return HashSet::default();
    };
    let blocks = function.blocks();
    let mut reached: HashSet<_> = blocks.first().copied().into_iter().collect();
    let mut open: Vec<_> = reached.iter().copied().collect();
    while let Some(block) = open.pop() {
        for next in block.successors() {
            if (block, next) != (from, to) && reached.insert(next) {
                open.push(next);
            }
        }
    }
    let blocks = blocks.into_iter();
    blocks.filter(|block| !reached.contains(block)).collect()
}
