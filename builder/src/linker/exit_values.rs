//! What a loop does not change is copied behind it, not before each test that may end it.
//!
//! ```text
//! round: branch at == end, behind, next              round: branch at == end, left, next
//! next:  branch digit < 10, more, behind             next:  branch digit < 10, more, left
//! more:  branch fits, round, behind                  more:  branch fits, round, left
//!                                                    left:  jump behind
//! behind: rest = phi [tail, round], [tail, next],    behind: rest = phi [tail, left], [..]
//!                    [tail, more], [..]
//! ```
//!
//! What follows has a register of its own for `rest`, as other ways lead there with something else, or with several iterators that are one after the other. A
//! branch to there from the middle of a loop has no place for a copy, so that it stands before the branch: ptxas leaves all of them in each round. A block that
//! all exits lead through has it once. Threads that leave the loop at several places meet there, too.
//!
//! A loop in which threads may wait for each other is left alone, as for [its exits](super::loop_exits). Those that are joined there bring constants alone that
//! differ, for a branch that ptxas sees through.

use rustc_hash::FxHashSet as HashSet;

use super::cold_values::cold;
use super::loop_exits::may_wait;
use super::narrow::dominators::Dominators;
use crate::llvm::{Block, Module, Value, ValueKind, opcode};

/// Makes such blocks behind all loops, but for the exits that lead to `joined` ones.
pub(super) fn copy_behind<'c>(module: &Module<'c>, joined: &HashSet<Block<'c>>) {
    for function in module.functions() {
        // The edges of a block that was made lead out of no loop that the exits led out of.
        while let Some((exits, work)) = first(function, joined) {
            let jump = match work {
                Work::Join => Some(exits.join(function)),
                Work::Hold => exits.to.terminator(),
            };
            // Else LLVM's code generator would take the block for one that nobody needs.
            jump.map(|jump| jump.build_asm_before("", "", module.void_type(), &[]));
        }
    }
}

/// How the exits are given a block of their own.
enum Work {
    /// By a new one.
    Join,
    /// They lead to one, which does nothing and must not be taken away.
    Hold,
}

/// Edges that lead from one loop to one block behind it.
struct Exits<'c> {
    to: Block<'c>,
    /// The blocks that they begin at, once each.
    from: Vec<Block<'c>>,
    /// Whether nothing else leads there.
    are_all: bool,
}

fn first<'c>(function: Value<'c>, joined: &HashSet<Block<'c>>) -> Option<(Exits<'c>, Work)> {
    let dominators = Dominators::of(function);
    let mut loops = dominators.loops();
    if loops.is_empty() {
        return None;
    }
    // What an inner one does not change, one around it may change.
    loops.sort_by_key(|(_, blocks)| blocks.len());
    let cold = cold(&function.blocks());
    loops.iter().find_map(|(_, blocks)| {
        let mut behind: Vec<Block<'c>> = Vec::new();
        let all = blocks.iter().flat_map(|block| block.successors());
        for to in all.filter(|to| !blocks.contains(to) && !cold.contains(to)) {
            if !behind.contains(&to) {
                behind.push(to);
            }
        }
        let exits = behind
            .into_iter()
            .map(|to| Exits::of(to, blocks, &dominators));
        let mut worth_it = exits.filter_map(|exits| {
            let is_joined = exits.leads_on().is_some_and(|next| joined.contains(&next));
            let work = exits.work(&dominators, blocks).filter(|_| !is_joined)?;
            Some((exits, work))
        });
        let found = worth_it.next();
        found.filter(|_| !blocks.iter().any(|block| may_wait(*block)))
    })
}

impl<'c> Exits<'c> {
    fn of(to: Block<'c>, blocks: &[Block<'c>], dominators: &Dominators<'c>) -> Exits<'c> {
        let before = dominators.before(to).into_iter();
        let (mut from, others): (Vec<_>, Vec<_>) = before.partition(|from| blocks.contains(from));
        from.dedup();
        Exits {
            to,
            from,
            are_all: others.is_empty(),
        }
    }

    /// What is to be done, if all of them bring something that the loop does not change to where others bring something else.
    fn work(&self, dominators: &Dominators<'c>, blocks: &[Block<'c>]) -> Option<Work> {
        let is_unchanged = |value: &Value<'c>| match value.kind() {
            ValueKind::Instruction => !blocks.contains(&value.block()),
            _ => *value != Value::undefined(value.ty(), *value),
        };
        let phis = self.to.phis();
        let common = |phi: &Value<'c>| self.common(*phi).filter(is_unchanged);
        if !self.are_all && phis.iter().any(|phi| common(phi).is_some()) {
            return Some(Work::Join);
        }
        let next = self.leads_on()?;
        let mut brought = next.phis().into_iter().filter_map(|phi| {
            let value = phi.incoming_from(self.to)?;
            match phis.contains(&value) {
                true => common(&value).filter(|_| self.are_all),
                false => Some(value).filter(is_unchanged),
            }
        });
        let is_worth_it = dominators.before(next).len() > 1 && brought.next().is_some();
        is_worth_it.then_some(Work::Hold)
    }

    /// Where the block leads that they lead to, if that is all it does.
    fn leads_on(&self) -> Option<Block<'c>> {
        let mut instructions = self.to.instructions().into_iter();
        let first = instructions.find(|i| i.opcode() != opcode::PHI);
        match self.to.successors()[..] {
            [next] if first == self.to.terminator() => Some(next),
            _ => None,
        }
    }

    /// What a phi has for all of them.
    fn common(&self, phi: Value<'c>) -> Option<Value<'c>> {
        let incoming = phi.incoming().into_iter();
        let mut brought = incoming.filter(|(_, from)| self.from.contains(from));
        let (value, _) = brought.next()?;
        brought.all(|(other, _)| other == value).then_some(value)
    }

    /// Lets all of them lead through a new block, and gives its jump.
    fn join(&self, function: Value<'c>) -> Value<'c> {
        let left = function.append_block();
        for phi in self.to.phis() {
            let is_brought = |from: &Block<'c>| self.from.contains(from);
            let (brought, others): (Vec<_>, Vec<_>) = phi
                .incoming()
                .into_iter()
                .partition(|(_, from)| is_brought(from));
            let value = self.common(phi).unwrap_or_else(|| {
                let joined = left.push_phi(phi);
                for (value, from) in brought {
                    joined.add_incoming(value, from);
                }
                joined
            });
            let changed = phi.build_phi_before(phi);
            for (value, from) in others {
                changed.add_incoming(value, from);
            }
            changed.add_incoming(value, left);
            phi.replace_by(changed);
        }
        for end in self.from.iter().filter_map(|from| from.terminator()) {
            for (n, _) in (0..).zip(end.successors()).filter(|(_, to)| *to == self.to) {
                end.set_successor(n, left);
            }
        }
        left.push_jump(self.to)
    }
}
