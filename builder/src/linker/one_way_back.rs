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
//! loop that was written is made by all of them together. It does so only where several edges lead back; `simplifycfg` keeps the block that
//! joins them.

use rustc_hash::FxHashSet as HashSet;

use crate::llvm::{Block, Module, Value};

/// Lets all edges that lead back to the first block of a loop come from one block.
pub(super) fn join(module: &Module<'_>) {
    for function in module.functions() {
        let blocks = function.blocks();
        for &header in &blocks {
            let leading = blocks.iter().copied();
            let leading: Vec<_> = leading
                .filter(|block| block.successors().contains(&header))
                .collect();
            // One that leads to it from outside, and two that lead back.
            if leading.len() < 3 {
                continue;
            }
            let outside = reached_without(header, &blocks);
            let mut back = leading;
            back.retain(|block| !outside.contains(block));
            if back.len() > 1 {
                join_at(header, &back, function);
            }
        }
    }
}

/// What is reached from the function's entry without a block.
fn reached_without<'c>(left_out: Block<'c>, blocks: &[Block<'c>]) -> HashSet<Block<'c>> {
    let mut reached = HashSet::default();
    let mut open: Vec<_> = blocks.first().copied().into_iter().collect();
    while let Some(block) = open.pop() {
        if block != left_out && reached.insert(block) {
            open.extend(block.successors());
        }
    }
    reached
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
