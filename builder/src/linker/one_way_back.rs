//! Loops whose rounds end at several places begin anew from one block.
//!
//! ```text
//! loop {
//!     if free == 0 { depth -= 1; continue }
//!     if depth == last { count += 1; continue }
//!     depth += 1;
//! }
//! ```
//!
//! Where some of these ways back leave a variable as it is, LLVM's `loop-simplify` takes them for a loop of their own inside one of the other ways (`separateNestedLoop`).
//! On a GPU the threads of a warp that go round in the inner loop then make all their rounds while the others wait, where each round of the
//! loop that was written is made by all of them together. It does so only where several edges lead back. The last runs of `simplifycfg` in LLVM's pipeline
//! take away a block that does nothing but join them, also one that was there from the beginning, and `loop-simplify` comes after them. So such a
//! block is kept by a call of `llvm.sideeffect`, until no pass changes loops any more.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::cold_values::cold;
use super::loops::{self, Leading};
use super::narrow::dominators::Dominators;
use crate::llvm::{Block, Module, Value};

/// What is no instruction, and what no pass takes away.
const KEEP: &str = "llvm.sideeffect";

/// Lets all edges that lead back to the first block of a loop come from one block.
pub(super) fn join(module: &Module<'_>) {
    for function in module.functions() {
        let blocks = function.blocks();
        let leading = Leading::of(&blocks);
        let mut dominators = None;
        for &header in &blocks {
            let mut back = edges_from(leading.to(header));
            // One that leads to it from outside, and two that lead back.
            if back.len() < 3 {
                continue;
            }
            let dominators = dominators.get_or_insert_with(|| Dominators::of(function));
            back.retain(|block| dominators.dominates(header, *block));
            if back.len() > 1 {
                join_at(header, &back, function);
            }
        }
    }
}

/// Keeps the blocks that do nothing but lead back from several others, where a round may end the loop before its ways part: that exit would lead
/// out of the inner loop, too, and threads that have left it by different ways would not meet again before the end of both.
pub(super) fn keep(module: &Module<'_>) {
    let keep = module.declaration(KEEP, module.void_type(), &[]);
    for function in module.functions() {
        let blocks = function.blocks();
        let leading = Leading::of(&blocks);
        let mut known = None;
        for &latch in &blocks {
            let [header] = latch.successors()[..] else {
                continue;
            };
            if !joins(latch, &leading, 1) || !leaves_a_variable(header, latch) {
                continue;
            }
            let (dominators, is_cold) =
                known.get_or_insert_with(|| (Dominators::of(function), cold(&blocks)));
            if dominators.dominates(header, latch)
                && Round::of(header, latch, &leading).may_end_first(is_cold)
                && let Some(end) = latch.terminator()
            {
                end.build_call_before(keep, &[]);
            }
        }
    }
}

/// A loop that one block leads back to.
struct Round<'c> {
    header: Block<'c>,
    /// All of its blocks.
    inside: HashSet<Block<'c>>,
    /// Where its ways come together.
    last: Vec<Block<'c>>,
}

impl<'c> Round<'c> {
    fn of(header: Block<'c>, latch: Block<'c>, leading: &Leading<'c>) -> Round<'c> {
        let before = |block| leading.to(block).iter().copied();
        Round {
            header,
            inside: loops::inside(header, vec![latch], before),
            last: edges_from(leading.to(latch)),
        }
    }

    /// Whether it may end, but for panics, where all ways are still open.
    fn may_end_first(&self, is_cold: &HashSet<Block<'c>>) -> bool {
        let leaves = |block: &Block<'c>| {
            let mut to = block.successors().into_iter();
            to.any(|to| !self.inside.contains(&to) && !is_cold.contains(&to))
        };
        let mut ends = self.inside.iter().filter(|block| leaves(block));
        ends.any(|block| {
            let mut reached = HashSet::default();
            let mut open = block.successors();
            while let Some(block) = open.pop() {
                let goes_on = block != self.header && self.inside.contains(&block);
                if goes_on && reached.insert(block) {
                    open.extend(block.successors());
                }
            }
            self.last.iter().all(|last| reached.contains(last))
        })
    }
}

/// Lets passes take away those that are not needed any more: no others lead there, or something is done there.
pub(super) fn release_needless(module: &Module<'_>) {
    let mut leading = HashMap::default();
    for call in kept(module) {
        let Some(function) = call.function() else {
            continue;
        };
        let leading = leading
            .entry(function)
            .or_insert_with(|| Leading::of(&function.blocks()));
        if !joins(call.block(), leading, 2) {
            call.erase();
        }
    }
}

/// Lets passes take away all.
pub(super) fn release(module: &Module<'_>) {
    kept(module).into_iter().for_each(Value::erase);
}

fn kept<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let calls = module.function(KEEP).into_iter();
    calls.flat_map(Value::calls).collect()
}

/// Whether a block joins others, and has so many instructions beside its phis.
fn joins<'c>(latch: Block<'c>, leading: &Leading<'c>, instructions: usize) -> bool {
    edges_from(leading.to(latch)).len() > 1
        && latch.instructions().len() == latch.phis().len() + instructions
}

/// Whether some of the ways that a block joins leave a variable of a loop as it is.
fn leaves_a_variable<'c>(header: Block<'c>, latch: Block<'c>) -> bool {
    header.phis().into_iter().any(|variable| {
        let next = variable.incoming_from(latch);
        let next = next.filter(|next| latch.phis().contains(next));
        let ways = next.map(Value::incoming).unwrap_or_default();
        ways.iter().any(|(value, _)| *value == variable)
    })
}

/// The blocks that edges come from, each once.
fn edges_from<'c>(edges: &[Block<'c>]) -> Vec<Block<'c>> {
    let mut from = edges.to_vec();
    let mut seen = HashSet::default();
    from.retain(|block| seen.insert(*block));
    from
}

/// Puts a block between those that lead back and the first one.
fn join_at<'c>(header: Block<'c>, back: &[Block<'c>], function: Value<'c>) {
    let latch = function.append_block();
    for phi in header.phis() {
        let (inside, outside): (Vec<_>, Vec<_>) = phi
            .incoming()
            .into_iter()
            .partition(|(_, from)| back.contains(from));
        let joined = latch.push_phi(phi);
        for (value, from) in inside {
            joined.add_incoming(value, from);
        }
        let changed = phi.build_phi_before(phi);
        for (value, from) in outside {
            changed.add_incoming(value, from);
        }
        changed.add_incoming(joined, latch);
        phi.replace_by(changed);
    }
    for end in back.iter().filter_map(|block| block.terminator()) {
        for (n, to) in (0..).zip(end.successors()) {
            if to == header {
                end.set_successor(n, latch);
            }
        }
    }
    latch.push_jump(header);
}
