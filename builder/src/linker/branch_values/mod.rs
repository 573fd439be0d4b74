//! Replaces values by what they are behind a branch that decides them.
//!
//! LLVM replaces a condition by `true` where a branch on it leads, but not what was computed from the condition before. Three iterators of the
//! standard library leave such values in a loop:
//!
//! ```text
//! for i in a..=b                               // `RangeInclusive::next`
//!     done = i >= b
//!     next = i + (done ? 0 : 1)                // where the loop goes on: i + 1
//!     ..
//!     if done || next > b { break }            // if done
//!
//! for x in slice                               // `Iter::next`
//!     next = &at[at == end ? 0 : 1]            // where the loop goes on: &at[1]
//!     ..
//!     if at == end { break }
//!
//! for i in x.iter().zip(y).step_by(k + 1)      // `Zip::nth`, which looks for the element one by one
//!     skipped = min(length - at, k)            // where the loop goes on: k
//!     if at + skipped >= length { break }      // if at + k >= length
//!     for _ in skipped..k { .. }               // no round
//! ```
//!
//! So each branch's condition is taken apart into [facts], what depends on them is [made again](again) where the branch leads, and LLVM does the
//! rest: the loops have a trip count then.

mod again;
mod dominance;
mod facts;
mod limits;

use crate::llvm::{Block, Module, Value, opcode};
pub(super) use dominance::Edge;
pub(super) use facts::{Parts, parts};

/// The attribute of a parameter that is a length: the most that it can be.
pub(super) use limits::{LENGTH, most_length};

/// Replaces what branches decide; says whether there was anything.
pub(super) fn replace(module: &Module<'_>) -> bool {
    let functions = module.functions().into_iter();
    functions.fold(false, |changed, function| {
        let here = in_function(function);
        changed | here
    })
}

fn in_function(function: Value<'_>) -> bool {
    let mut changed = false;
    for block in function.blocks() {
        let Some(branch) = block.terminator() else {
            continue;
        };
        if branch.opcode() == opcode::BRANCH
            && let [yes, no] = branch.successors()[..]
            && yes != no
            && let Some(condition) = branch.operand(0)
        {
            for (to, holds) in [(yes, true), (no, false)] {
                changed |= on_edge(block, to, condition, holds);
            }
        }
    }
    for instruction in function.instructions() {
        changed |= match instruction.opcode() {
            opcode::ICMP => limits::compare_without_limit(instruction),
            _ => again::in_second_operand(instruction),
        };
    }
    changed
}

/// Replaces what depends on the facts of a branch from `from` to `to`.
fn on_edge<'c>(from: Block<'c>, to: Block<'c>, condition: Value<'c>, holds: bool) -> bool {
    let mut edge = Edge::new(from, to);
    let mut changed = false;
    for fact in facts::of(condition, holds) {
        changed |= again::behind(&mut edge, &fact);
    }
    changed
}
