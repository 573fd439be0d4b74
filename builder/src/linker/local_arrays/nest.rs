//! The loops of a function, which lie in each other, and how much they would be if they were unrolled.

use rustc_hash::FxHashSet as HashSet;

use crate::linker::evaluate::Numbers;
use crate::linker::loops::{self, Loop};
use crate::llvm::{Block, Module, Value, opcode};

/// The loops of a function.
pub(super) struct Nest<'c> {
    loops: Vec<Inner<'c>>,
}

/// A loop with its place among the others.
struct Inner<'c> {
    found: Loop<'c>,
    /// The loops that lie directly in it, by number.
    inside: Vec<usize>,
    /// Whether it lies in no other.
    is_outermost: bool,
    /// The instructions that are in none of those inside.
    size: usize,
    /// What decides about leaving it, from blocks that are in none of those inside.
    exits: Vec<Exit<'c>>,
}

/// A branch that may leave a loop.
struct Exit<'c> {
    condition: Value<'c>,
    /// What the condition is where it leaves.
    leaves: bool,
    is_at_start: bool,
}

impl<'c> Nest<'c> {
    /// The loops of a function to which `loop-simplify` was applied.
    pub(super) fn of(function: Value<'c>) -> Nest<'c> {
        let mut all = loops::all(function);
        // The smallest that has another one's first block is the one around.
        all.sort_by_key(|found| found.blocks.len());
        let around = |n: usize| {
            let mut greater = (n + 1)..all.len();
            greater.find(|&other| all[other].blocks.contains(&all[n].header))
        };
        let around: Vec<Option<usize>> = (0..all.len()).map(around).collect();
        let loops = all.iter().enumerate().map(|(n, found)| {
            let inside = (0..all.len()).filter(|&other| around[other] == Some(n));
            let inside: Vec<usize> = inside.collect();
            let inner: HashSet<Block<'c>> = inside
                .iter()
                .flat_map(|&n| all[n].blocks.iter().copied())
                .collect();
            let own = found
                .blocks
                .iter()
                .copied()
                .filter(|block| !inner.contains(block));
            Inner {
                inside,
                is_outermost: around[n].is_none(),
                size: own.clone().map(size).sum(),
                exits: own.filter_map(|block| Exit::of(block, found)).collect(),
                found: found.clone(),
            }
        });
        Nest {
            loops: loops.collect(),
        }
    }

    /// The loop that begins with a block.
    pub(super) fn begins(&self, header: Block<'c>) -> Option<&Loop<'c>> {
        let mut loops = self.loops.iter().map(|inner| &inner.found);
        loops.find(|found| found.header == header)
    }

    /// What decides about leaving the loop that begins with a block.
    pub(super) fn conditions(&self, header: Block<'c>) -> Vec<Value<'c>> {
        let loops = self.loops.iter();
        loops
            .filter(|inner| inner.found.header == header)
            .flat_map(|inner| inner.exits.iter().map(|exit| exit.condition))
            .collect()
    }

    /// How many instructions there are when the loops that begin with these blocks are unrolled; `None` if they are more than `most`, or if
    /// the rounds of one of these loops are not known.
    pub(super) fn unrolled_size(
        &self,
        module: &Module<'c>,
        unrolled: &HashSet<Block<'c>>,
        most: usize,
    ) -> Option<usize> {
        let count = Count {
            nest: self,
            unrolled,
            most,
        };
        let outermost = (0..self.loops.len()).filter(|&n| self.loops[n].is_outermost);
        let mut numbers = Numbers::new(module);
        outermost.into_iter().try_fold(0, |sum, n| {
            let size = count.below(n, &mut numbers)?;
            count.within(sum + size)
        })
    }
}

impl<'c> Exit<'c> {
    fn of(block: Block<'c>, found: &Loop<'c>) -> Option<Exit<'c>> {
        let branch = block.terminator()?;
        let successors = branch.successors();
        if branch.opcode() != opcode::BRANCH || successors.len() != 2 {
            return None;
        }
        let stays = |n: usize| found.blocks.contains(&successors[n]);
        (stays(0) != stays(1)).then(|| {
            Some(Exit {
                condition: branch.operand(0)?,
                leaves: stays(1),
                is_at_start: block == found.header,
            })
        })?
    }
}

/// The counting of what unrolling makes.
struct Count<'n, 'c> {
    nest: &'n Nest<'c>,
    unrolled: &'n HashSet<Block<'c>>,
    most: usize,
}

impl<'c> Count<'_, 'c> {
    fn within(&self, size: usize) -> Option<usize> {
        (size <= self.most).then_some(size)
    }

    /// What is unrolled in a loop that may stay itself.
    fn below(&self, n: usize, numbers: &mut Numbers<'_, 'c>) -> Option<usize> {
        let inner = &self.nest.loops[n];
        if self.unrolled.contains(&inner.found.header) {
            return self.rounds(inner, numbers);
        }
        self.inside(inner, numbers, Count::below)
    }

    /// The size of a loop in a round of an unrolled one.
    fn copied(&self, n: usize, numbers: &mut Numbers<'_, 'c>) -> Option<usize> {
        let inner = &self.nest.loops[n];
        if self.unrolled.contains(&inner.found.header) {
            return self.rounds(inner, numbers);
        }
        Some(inner.size + self.inside(inner, numbers, Count::copied)?)
    }

    fn inside(
        &self,
        inner: &Inner<'c>,
        numbers: &mut Numbers<'_, 'c>,
        size: impl Fn(&Self, usize, &mut Numbers<'_, 'c>) -> Option<usize>,
    ) -> Option<usize> {
        inner.inside.iter().try_fold(0, |sum, &n| {
            let size = size(self, n, numbers)?;
            self.within(sum + size)
        })
    }

    /// The size of all rounds of an unrolled loop.
    fn rounds(&self, inner: &Inner<'c>, numbers: &Numbers<'_, 'c>) -> Option<usize> {
        let Loop {
            before,
            header,
            latch,
            ..
        } = inner.found;
        let phis = header.phis();
        let mut round = {
            let mut outside = numbers.clone();
            let first = phis.iter().map(|phi| {
                let number = phi.incoming_from(before).and_then(|from| outside.of(from));
                (*phi, number)
            });
            let first: Vec<_> = first.collect();
            numbers.with(first)
        };
        let mut total = 0;
        loop {
            let mut leaves = inner.exits.iter().filter(|exit| {
                let condition = round.of(exit.condition);
                condition.is_some_and(|condition| (condition != 0) == exit.leaves)
            });
            let left = leaves.next();
            if left.is_some_and(|exit| exit.is_at_start) {
                return Some(total);
            }
            let inside = self.inside(inner, &mut round, Count::copied)?;
            total = self.within(total + inner.size.max(1) + inside)?;
            if left.is_some() {
                return Some(total);
            }
            let next = phis.iter().map(|phi| {
                let number = phi.incoming_from(latch).and_then(|next| round.of(next));
                (*phi, number)
            });
            let next: Vec<_> = next.collect();
            round = numbers.with(next);
        }
    }
}

/// The instructions of a block that become some of the machine's.
fn size(block: Block<'_>) -> usize {
    let instructions = block.instructions().into_iter();
    instructions
        .filter(|one| match one.opcode() {
            opcode::PHI => false,
            opcode::CALL => !one.callee().is_some_and(|callee| {
                let name = callee.name();
                NOTHING.iter().any(|none| name.starts_with(none))
            }),
            _ => true,
        })
        .count()
}

/// Intrinsics that are no instructions.
const NOTHING: [&str; 5] = [
    "llvm.sideeffect",
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.expect.",
    "llvm.experimental.noalias.scope.decl",
];
