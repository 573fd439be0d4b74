//! Loops in which the threads of a warp meet, such as by a shuffle in each round.
//!
//! All threads that meet must go through the loop, or all through its copy. So they vote before it:
//!
//! ```text
//! do { if lane >= n { panic } x = shuffle(row[lane]); .. } while ..
//! ```
//! becomes
//! ```text
//! if lane < n && vote.sync.all(every round passes its checks) {
//!     do { x = shuffle(row[lane]); .. } while ..
//! } else {
//!     do { if lane >= n { panic } x = shuffle(row[lane]); .. } while ..
//! }
//! ```
//!
//! The vote must wait for no thread that does not come to it. An operation with the mask of a whole warp, which every round comes to, is executed by all
//! threads of the warp that have not left, or by none; so who comes to it in the first round votes, and nobody else: a thread that panics before it goes
//! to the loop as it was. A thread comes to the loop once; otherwise its first vote might be another one's second.

use std::iter;

use rustc_hash::FxHashSet as HashSet;

use super::check::{Check, Values, What};
use super::passing::Passing;
use crate::linker::convergence::is_convergent;
use crate::linker::is_kernel;
use crate::linker::loops::Loop;
use crate::linker::meetings::is_meeting;
use crate::linker::template::{Statement, statements};
use crate::llvm::{Block, Module, Place, Value};

/// Instructions in which the threads of a mask meet, and no others, by their opcodes.
const OF_WARP: [&str; 4] = ["shfl", "vote", "redux", "match"];

/// The mask of all threads of a warp, and how assembly names it.
const ALL: u64 = u32::MAX as u64;
const WHOLE: [&str; 2] = ["-1", "0xffffffff"];

/// The vote's intrinsic: `vote.sync.all.pred`.
const VOTE: &str = "llvm.nvvm.vote.all.sync";

/// What threads that meet in a loop do before it.
pub(super) struct Vote {
    /// How many of the loop's checks a round makes before it comes to an operation of the whole warp.
    pub first: usize,
}

impl Vote {
    /// How the threads that meet in a loop agree on it, of which these are the checks; `None` if they cannot.
    pub(super) fn of<'c>(
        function: Value<'c>,
        found: &Loop<'c>,
        checks: &[Check<'c>],
    ) -> Option<Vote> {
        let instructions = || found.blocks.iter().flat_map(|block| block.instructions());
        let mut meetings = instructions().filter(|i| is_meeting(*i));
        if !is_kernel(function) || !meetings.all(is_of_warp) || comes_again(found) {
            return None;
        }
        let later = found.first_blocks().into_iter().map(|(_, next)| next);
        let mut first = 0;
        for block in iter::once(found.header).chain(later) {
            let meeting = block.instructions().into_iter().find(|i| is_meeting(*i));
            if let Some(meeting) = meeting {
                // Who leaves behind a meeting of others would meet them in another loop.
                return is_of_whole_warp(meeting).then_some(Vote { first });
            }
            let is_end = block.successors().len() == 1;
            match checks.get(first).filter(|check| check.block == block) {
                Some(check) if is_exact(check) => first += 1,
                None if is_end => {}
                _ => return None,
            }
        }
        None
    }

    /// Lets the block before the loop, which has no end, lead to the copy if all agree that all rounds pass their checks.
    pub(super) fn branch<'c>(
        &self,
        module: &Module<'c>,
        function: Value<'c>,
        found: &Loop<'c>,
        (pass, copy): (Passing<'c>, Block<'c>),
    ) -> Value<'c> {
        let (before, header) = (found.before, found.header);
        let voting = match pass.first {
            None => before,
            Some(first) => {
                let voting = function.append_block();
                before.push_branch(first, voting, header);
                copy.replace_incoming(before, &[voting]);
                header.replace_incoming(before, &[before, voting]);
                voting
            }
        };
        let mask = Place::before(pass.all).constant(32, ALL);
        let truth = pass.all.ty();
        let vote = module.declaration(VOTE, truth, &[mask.ty(), truth]);
        let all = voting.push_call(vote, &[mask, pass.all]);
        voting.push_branch(all, copy, header)
    }
}

/// Whether the first round's outcome of a check is known before the loop.
fn is_exact(check: &Check<'_>) -> bool {
    match &check.what {
        What::Is(..) => true,
        What::Below(below) => matches!(below.values, Values::Steps(_)),
    }
}

/// Whether nobody but threads of a warp meets at an instruction.
fn is_of_warp(instruction: Value<'_>) -> bool {
    let Some(assembly) = instruction.called_assembly() else {
        return false;
    };
    let text = assembly.asm_text();
    let mut meetings = statements(&text).filter(|one| is_convergent(*one));
    meetings.all(is_of_mask)
}

fn is_of_mask(statement: Statement<'_>) -> bool {
    OF_WARP.contains(&statement.opcode()) && statement.has("sync")
}

/// Whether all threads of a warp that have not left execute an instruction, or none.
fn is_of_whole_warp(instruction: Value<'_>) -> bool {
    let mask = || {
        let assembly = instruction.called_assembly()?;
        let text = assembly.asm_text();
        // What is guarded may be executed by some.
        let text = Some(text).filter(|text| !text.contains('@'))?;
        let meeting = statements(&text).find(|one| is_of_mask(*one))?;
        let mask = meeting.operands.rsplit(',').next()?.trim();
        if WHOLE.contains(&mask) {
            return Some(ALL);
        }
        let constraints = assembly.asm_constraints();
        let results = constraints.split(',').filter(|one| one.starts_with('='));
        let place: u32 = mask.trim_matches(['$', '{', '}']).parse().ok()?;
        let argument = place.checked_sub(results.count() as u32)?;
        let argument = (argument < instruction.argument_count()).then_some(argument)?;
        let mask = instruction.operand(argument)?;
        (mask.integer_bits() == Some(32)).then(|| mask.as_integer())?
    };
    mask() == Some(ALL)
}

/// Whether a thread may come to a loop again that it has left.
fn comes_again(found: &Loop<'_>) -> bool {
    let mut seen = HashSet::from_iter(found.blocks.iter().copied());
    let mut open = found.blocks.clone();
    while let Some(block) = open.pop() {
        if block == found.before {
            return true;
        }
        open.extend(block.successors().into_iter().filter(|to| seen.insert(*to)));
    }
    false
}
