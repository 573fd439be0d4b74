//! Copies of blocks: what stands in a copy for each value and block of the original.

use rustc_hash::FxHashMap as HashMap;

use crate::llvm::{Block, Value, opcode};

/// What stands for the original's values and blocks in one copy; what has no copy stands for itself.
#[derive(Clone, Default)]
pub(super) struct Copies<'c> {
    values: HashMap<Value<'c>, Value<'c>>,
    blocks: HashMap<Block<'c>, Block<'c>>,
    /// Those that are not connected yet, behind their originals.
    open: Vec<(Value<'c>, Value<'c>)>,
}

impl<'c> Copies<'c> {
    /// Copies of such blocks, each beside its copy, which is empty.
    pub(super) fn of_blocks(blocks: impl Iterator<Item = (Block<'c>, Block<'c>)>) -> Copies<'c> {
        Copies {
            blocks: blocks.collect(),
            ..Copies::default()
        }
    }

    pub(super) fn value(&self, original: Value<'c>) -> Value<'c> {
        self.values.get(&original).copied().unwrap_or(original)
    }

    pub(super) fn block(&self, original: Block<'c>) -> Block<'c> {
        self.blocks.get(&original).copied().unwrap_or(original)
    }

    /// Whether a block has a copy.
    pub(super) fn has(&self, original: Block<'c>) -> bool {
        self.blocks.contains_key(&original)
    }

    /// Lets a value stand for another one.
    pub(super) fn set(&mut self, original: Value<'c>, copy: Value<'c>) {
        self.values.insert(original, copy);
    }

    /// Puts a copy of an operation whose operands have their copies at the end of a block.
    pub(super) fn push_to(&mut self, block: Block<'c>, original: Value<'c>) -> Value<'c> {
        let copy = block.push_copy(original);
        self.redirect(copy);
        self.set(original, copy);
        copy
    }

    /// Puts a copy of an instruction at the end of its block's copy. What it is made of and where it leads are given to it by [`Copies::connect`].
    pub(super) fn push(&mut self, original: Value<'c>) -> Value<'c> {
        let block = self.block(original.block());
        let copy = match original.opcode() {
            opcode::PHI => block.push_phi(original),
            _ => block.push_copy(original),
        };
        self.set(original, copy);
        self.open.push((original, copy));
        copy
    }

    /// Makes all that was pushed of copies, where there are some.
    pub(super) fn connect(&mut self) {
        for (original, copy) in std::mem::take(&mut self.open) {
            if original.opcode() == opcode::PHI {
                for (value, from) in original.incoming() {
                    copy.add_incoming(self.value(value), self.block(from));
                }
                continue;
            }
            self.redirect(copy);
            for (n, to) in (0..).zip(copy.successors()) {
                copy.set_successor(n, self.block(to));
            }
        }
    }

    /// Replaces the operands of an instruction by their copies.
    fn redirect(&self, copy: Value<'c>) {
        for n in 0..copy.operand_count() {
            let operand = copy.operand(n);
            if let Some(&mapped) = operand.and_then(|operand| self.values.get(&operand)) {
                copy.set_operand(n, mapped);
            }
        }
    }
}
