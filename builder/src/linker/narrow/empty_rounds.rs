//! Loops whose rounds do nothing where a condition holds that is the same in all of them: it is tested once, before the loop.
//!
//! ```text
//! for y in rows { for x in a..b { .. } }        if a < b { for y in rows { for x in a..b { .. } } }
//! ```
//!
//! LLVM does this for no loop of a GPU's code, as it would copy the loop in general. Here there is nothing to copy. What every round checks then
//! holds at its end, too, such as that `y` is the index of a row.

use super::dominators::Dominators;
use super::rounds::Counter;
use crate::linker::loops::{self, Loop, is_inside};
use crate::llvm::{Block, Module, Place, Value, opcode};

/// What gives loops the form in which they are found.
const SIMPLIFY: &str = "loop-simplify,lcssa";

/// Tests such conditions before the loops; whether there are any.
pub(super) fn run(module: &Module<'_>) -> Result<bool, String> {
    let mut is_changed = false;
    for function in module.functions() {
        if !function.blocks().into_iter().any(leads_past) {
            continue;
        }
        // A branch before a loop may lead past it, too.
        module.run_passes_on(function, SIMPLIFY)?;
        // Those inside first, by which those around them may become empty.
        for found in loops::all(function).into_iter().rev() {
            if let Some(empty) = Empty::of(&found, || Dominators::of(function)) {
                empty.hoist(&found);
                is_changed = true;
            }
        }
    }
    Ok(is_changed)
}

/// Whether a block's branch leads to one from which the block is reached again at once.
fn leads_past(header: Block<'_>) -> bool {
    let ways = header.successors();
    let leads_back = |way: &Block<'_>| way != &header && way.successors().contains(&header);
    ways.len() == 2 && ways.iter().any(leads_back)
}

/// A loop's branch past its rounds.
struct Empty<'c> {
    /// The branch at the end of the first block.
    branch: Value<'c>,
    /// Which of its ways leads past them.
    past: u32,
    /// What each phi behind the loop has of it then.
    results: Vec<Value<'c>>,
}

impl<'c> Empty<'c> {
    fn of(found: &Loop<'c>, dominators: impl FnOnce() -> Dominators<'c>) -> Option<Empty<'c>> {
        let (branch, past) = Empty::branch(found, dominators)?;
        let results = found.behind()?.phis().into_iter();
        let results = results.map(|phi| unchanged(found, phi.incoming_from(found.latch)?));
        Some(Empty {
            branch,
            past,
            results: results.collect::<Option<_>>()?,
        })
    }

    /// The branch, and which of its ways leads past the rounds.
    fn branch(
        found: &Loop<'c>,
        dominators: impl FnOnce() -> Dominators<'c>,
    ) -> Option<(Value<'c>, u32)> {
        let Loop { header, latch, .. } = *found;
        let branch = header.terminator()?;
        let ways: [Block<'c>; 2] = branch.successors().try_into().ok()?;
        let past = ways.iter().position(|way| *way == latch)?;
        let is_way_in = found.blocks.contains(&ways[1 - past]) && ways[1 - past] != latch;
        let has_only = |block: Block<'c>| block.instructions().into_iter().all(does_nothing);
        let is_empty = branch.opcode() == opcode::BRANCH
            && header != latch
            && is_way_in
            && !is_inside(found, branch.operand(0)?)
            && latch.successors().len() == 2
            && found.behind().is_some()
            && has_only(header)
            && has_only(latch)
            && ends(found, &dominators());
        is_empty.then_some((branch, past as u32))
    }

    /// Puts the test before the loop.
    fn hoist(&self, found: &Loop<'c>) {
        let (Some(jump), Some(behind)) = (found.before.terminator(), found.behind()) else {
            return;
        };
        let Some(condition) = self.branch.operand(0) else {
            return;
        };
        let goes_in = Place::before(self.branch).constant(1, self.past.into());
        self.branch.set_operand(0, goes_in);
        jump.erase();
        match self.past {
            0 => found.before.push_branch(condition, behind, found.header),
            _ => found.before.push_branch(condition, found.header, behind),
        };
        for (phi, result) in behind.phis().into_iter().zip(&self.results) {
            phi.add_incoming(*result, found.before);
        }
    }
}

/// Whether it only computes something.
fn does_nothing(instruction: Value<'_>) -> bool {
    let is_other = matches!(
        instruction.opcode(),
        opcode::CALL | opcode::LOAD | opcode::STORE | opcode::ALLOCA
    );
    !is_other && !instruction.is_atomic_access()
}

/// Whether some counter ends the loop at some time.
fn ends<'c>(found: &Loop<'c>, dominators: &Dominators<'c>) -> bool {
    let counters = found.header.phis().into_iter();
    let counters = counters.filter(|phi| !phi.is_pointer() && phi.integer_bits().is_some());
    counters
        .filter_map(|phi| Counter::of(phi, dominators))
        .any(|counter| counter.is_by_one() && counter.end(dominators).is_some())
}

/// What a value is behind a loop whose rounds all go past what they do, if each round leaves it as it was.
fn unchanged<'c>(found: &Loop<'c>, value: Value<'c>) -> Option<Value<'c>> {
    if !is_inside(found, value) {
        return Some(value);
    }
    let is_phi_of = |value: Value<'c>, block| {
        is_inside(found, value) && value.opcode() == opcode::PHI && value.block() == block
    };
    let past = |value: Value<'c>| match is_phi_of(value, found.latch) {
        true => value.incoming_from(found.header),
        false => Some(value),
    };
    let first = past(value)?;
    if !is_phi_of(first, found.header) {
        return None;
    }
    let next = past(first.incoming_from(found.latch)?)?;
    (next == first).then(|| first.incoming_from(found.before))?
}
