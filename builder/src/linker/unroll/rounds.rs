//! Copies of a loop's rounds, one behind the other.

use std::collections::HashSet;

use super::scopes::{drop_scopes, is_scope};
use crate::linker::block_copies::Copies;
use crate::linker::loops::Loop;
use crate::llvm::{Block, Value, opcode};

/// The copies so far.
pub(super) struct Rounds<'l, 'c> {
    found: &'l Loop<'c>,
    maps: Vec<Copies<'c>>,
}

impl<'l, 'c> Rounds<'l, 'c> {
    pub(super) fn of(found: &'l Loop<'c>) -> Rounds<'l, 'c> {
        Rounds {
            found,
            maps: Vec::new(),
        }
    }

    pub(super) fn last(&self) -> &Copies<'c> {
        &self.maps[self.maps.len() - 1]
    }

    /// What stands for a value in each of them.
    pub(super) fn values(&self, value: Value<'c>) -> Vec<Value<'c>> {
        self.maps.iter().map(|map| map.value(value)).collect()
    }

    /// Lets a value stand for another one in the last of them.
    pub(super) fn set_last(&mut self, value: Value<'c>, copy: Value<'c>) {
        if let Some(last) = self.maps.last_mut() {
            last.set(value, copy);
        }
    }

    /// Adds a round that begins with the block `first`, where the values of `known` stand for the loop's. Its latch has no end yet; of the very first
    /// one the first block's phis have no values.
    pub(super) fn add(
        &mut self,
        function: Value<'c>,
        first: Block<'c>,
        known: &[(Value<'c>, Value<'c>)],
    ) {
        let Loop {
            header,
            latch,
            blocks,
            ..
        } = self.found;
        let is_first = |block: Block<'c>| block == *header;
        let mut map = Copies::of_blocks(blocks.iter().map(|block| match is_first(*block) {
            true => (*block, first),
            false => (*block, function.append_block()),
        }));
        let mut copied = Vec::new();
        let mut has_scopes = false;
        for instruction in blocks.iter().flat_map(|block| block.instructions()) {
            let block = instruction.block();
            if let Some((_, value)) = known.iter().find(|(one, _)| *one == instruction) {
                map.set(instruction, *value);
            } else if is_scope(instruction) {
                has_scopes = true;
            } else if instruction.opcode() == opcode::PHI && is_first(block) {
                let next = || instruction.incoming_from(*latch);
                let value = match self.maps.last() {
                    Some(before) => next().map(|next| before.value(next)),
                    None => Some(first.push_phi(instruction)),
                };
                if let Some(value) = value {
                    map.set(instruction, value);
                }
            } else if block != *latch || !instruction.is_terminator() {
                copied.push(map.push(instruction));
            }
        }
        map.connect();
        if has_scopes {
            copied.into_iter().for_each(drop_scopes);
        }
        self.maps.push(map);
    }

    /// Gives the phis behind the loop what the copies have for them: the latches of those in `ends` lead there from these blocks, those of the
    /// others do not, and no copies of `passed` do.
    pub(super) fn leave(&self, ends: &[(usize, Block<'c>)], passed: &[Block<'c>]) {
        let Loop { latch, blocks, .. } = self.found;
        let outside: HashSet<_> = blocks
            .iter()
            .flat_map(|block| block.successors())
            .filter(|to| !blocks.contains(to))
            .collect();
        for phi in outside.into_iter().flat_map(Block::phis) {
            for (value, from) in phi.incoming() {
                if passed.contains(&from) {
                    continue;
                }
                if from == *latch {
                    for &(n, end) in ends {
                        phi.add_incoming(self.maps[n].value(value), end);
                    }
                    continue;
                }
                for map in self.maps.iter().filter(|map| map.has(from)) {
                    phi.add_incoming(map.value(value), map.block(from));
                }
            }
        }
    }
}
