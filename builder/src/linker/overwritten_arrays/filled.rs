//! Arrays that the rounds of a loop fill before anything of them is read.
//!
//! The rounds are gone through with the numbers that their counters have, as long as these are constants, and each byte is noted that a store overwrites
//! that every round makes.

use super::accesses::Accesses;
use crate::linker::evaluate::Numbers;
use crate::linker::loops::Loop;
use crate::linker::narrow::dominators::Dominators;
use crate::llvm::{Block, Module, Value, opcode};

/// How many rounds are gone through at most, of all loops inside together.
const MOST_ROUNDS: usize = 4096;

/// The bytes of an array that a loop overwrites before anything is read; `None` if something may be read before the loop has made all of its rounds.
pub(super) fn before_reads<'c>(
    module: &Module<'c>,
    dominators: &Dominators<'c>,
    loops: &[Loop<'c>],
    (found, array): (&Loop<'c>, &Accesses<'c>),
) -> Option<Vec<bool>> {
    let filling = Filling {
        module,
        dominators,
        loops,
        array,
    };
    let way = filling.way_out(found, |behind| {
        let mut reads = array.reads.iter();
        reads.all(|read| dominators.dominates(behind, read.block()))
    })?;
    let mut bytes = vec![false; array.size as usize];
    let mut rounds = 0;
    let mut numbers = Numbers::new(module);
    filling.fill((found, way), &mut numbers, (&mut bytes, &mut rounds));
    bytes.contains(&true).then_some(bytes)
}

struct Filling<'f, 'c> {
    module: &'f Module<'c>,
    dominators: &'f Dominators<'c>,
    loops: &'f [Loop<'c>],
    array: &'f Accesses<'c>,
}

/// The way out of a loop: from a block that every round goes through, to one that nothing else leads to. Who is there has made all rounds up to the first
/// block of the last one.
#[derive(Clone, Copy)]
struct Way<'c> {
    from: Block<'c>,
    behind: Block<'c>,
}

/// What a part of each round does.
struct Part<'f, 'c> {
    stores: Vec<Value<'c>>,
    loops: Vec<(&'f Loop<'c>, Way<'c>)>,
}

impl<'f, 'c> Filling<'f, 'c> {
    /// The first way out of a loop that leads to such a block.
    fn way_out(&self, found: &Loop<'c>, is_it: impl Fn(Block<'c>) -> bool) -> Option<Way<'c>> {
        let blocks = found.blocks.iter();
        let passed = blocks.filter(|from| self.dominators.dominates(**from, found.latch));
        let mut ways = passed.flat_map(|&from| {
            let out = from.successors().into_iter();
            let out = out.filter(|to| !found.blocks.contains(to));
            out.map(move |behind| Way { from, behind })
        });
        ways.find(|way| self.dominators.before(way.behind) == [way.from] && is_it(way.behind))
    }

    /// What every round that comes to `end` has done, without what is in `before`.
    fn part(
        &self,
        found: &Loop<'c>,
        end: Block<'c>,
        before: Option<&Part<'f, 'c>>,
    ) -> Part<'f, 'c> {
        let is_done = |block| self.dominators.dominates(block, end);
        let is_inside = |inner: &&Loop<'c>| {
            inner.header != found.header && found.blocks.contains(&inner.header)
        };
        let inside: Vec<_> = self.loops.iter().filter(is_inside).collect();
        let is_own = |store: &Value<'c>| {
            let block = store.block();
            found.blocks.contains(&block)
                && is_done(block)
                && !inside.iter().any(|inner| inner.blocks.contains(&block))
                && !before.is_some_and(|before| before.stores.contains(store))
        };
        // Those inside of others are gone through with them.
        let is_direct = |inner: &&Loop<'c>| {
            let mut others = inside.iter();
            !others
                .any(|other| other.header != inner.header && other.blocks.contains(&inner.header))
        };
        let is_new = |inner: &Loop<'c>| {
            let before = before.map_or(&[][..], |before| &before.loops);
            !before.iter().any(|(known, _)| known.header == inner.header)
        };
        let direct = inside.iter().copied().filter(is_direct);
        let direct = direct.filter(|inner| is_new(inner));
        Part {
            stores: self.array.stores.iter().copied().filter(is_own).collect(),
            loops: direct
                .filter_map(|inner| Some((inner, self.way_out(inner, is_done)?)))
                .collect(),
        }
    }

    /// Notes what the rounds of a loop overwrite, as far as it is known which ones there are.
    fn fill(
        &self,
        (found, way): (&Loop<'c>, Way<'c>),
        outside: &mut Numbers<'_, 'c>,
        (bytes, rounds): (&mut [bool], &mut usize),
    ) {
        let first = self.part(found, way.from, None);
        let rest = self.part(found, found.latch, Some(&first));
        let phis = found.header.phis();
        let numbers = phis.iter().map(|phi| {
            let number = phi.incoming_from(found.before);
            (*phi, number.and_then(|number| outside.of(number)))
        });
        let numbers: Vec<_> = numbers.collect();
        let mut round = outside.with(numbers);
        while *rounds < MOST_ROUNDS {
            *rounds += 1;
            self.note(&first, &mut round, (&mut *bytes, &mut *rounds));
            if !stays(found, way, &mut round) {
                return;
            }
            self.note(&rest, &mut round, (&mut *bytes, &mut *rounds));
            let numbers = phis.iter().map(|phi| {
                let number = phi.incoming_from(found.latch);
                (*phi, number.and_then(|number| round.of(number)))
            });
            let numbers: Vec<_> = numbers.collect();
            round = outside.with(numbers);
        }
    }

    /// Notes what a part of a round overwrites.
    fn note(
        &self,
        part: &Part<'_, 'c>,
        round: &mut Numbers<'_, 'c>,
        (bytes, rounds): (&mut [bool], &mut usize),
    ) {
        for store in &part.stores {
            if let Some(own) = self.bytes_of(store, round)
                && let Some(stored) = bytes.get_mut(own)
            {
                stored.fill(true);
            }
        }
        for inner in &part.loops {
            self.fill(*inner, round, (&mut *bytes, &mut *rounds));
        }
    }

    /// Which bytes of the array a store overwrites.
    fn bytes_of(
        &self,
        store: &Value<'c>,
        round: &mut Numbers<'_, 'c>,
    ) -> Option<std::ops::Range<usize>> {
        let start = round.of(store.operand(1)?)?;
        let start = start.wrapping_sub(round.of(self.array.slot)?) as usize;
        let size = self.module.stored_size_of(store.operand(0)?.ty())? as usize;
        Some(start..start.checked_add(size)?)
    }
}

/// Whether it is known that a round stays in a loop at this way out.
fn stays<'c>(found: &Loop<'c>, way: Way<'c>, round: &mut Numbers<'_, 'c>) -> bool {
    let branch = way.from.terminator();
    let branch = branch.filter(|end| end.opcode() == opcode::BRANCH);
    let next = branch.and_then(|end| {
        let condition = round.of(end.operand(0)?)?;
        end.successors().get(usize::from(condition == 0)).copied()
    });
    next.is_some_and(|next| found.blocks.contains(&next))
}
