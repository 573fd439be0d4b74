//! What all rounds of a loop do but one, each round does; its results are chosen where that one would not have done it.
//!
//! ```text
//! do {                                    do {
//!     if j >= n { panic }                     if j >= n { panic }
//!     if j != i {                             d = load points[j]; ..; near = d < r
//!         d = load points[j]; ..
//!         count += d < r                      count += j != i & near
//!     }                                       j += 1
//!     j += 1                              } while j < end
//! } while j < end
//! ```
//!
//! Who looks at all others leaves himself out. Where the element was loaded before that condition, LLVM brings it behind it, where alone it is used. But then the round has a
//! branch, and no loads of several rounds are under way at a time. What is executed in vain is so in one round.
//!
//! Elements are loaded if the round has found before that the slice has them, and if nothing writes to it: the load of that one round gives something.

use super::harmless::is_harmless;
use super::loop_counters::Counter;
use super::loops::{self, Loop, is_inside};
use super::narrow::dominators::Dominators;
use super::read_only_slices::Part;
use crate::llvm::{Block, Module, Place, Value, ValueKind, opcode, predicate};

/// How many instructions are executed in vain at most.
const MOST: usize = 32;

/// What follows: the round's blocks are one.
const CLEAN_UP: &str = "simplifycfg";

/// Rewrites the loops of all functions.
pub(super) fn join(module: &Module<'_>) -> Result<(), String> {
    for function in module.functions() {
        if function.instructions().into_iter().any(may_be_but_one) {
            module.run_passes_on(function, loops::SIMPLIFY)?;
            if join_in(module, function) {
                module.run_passes_on(function, CLEAN_UP)?;
            }
        }
    }
    Ok(())
}

/// Whether an instruction asks whether a phi is a number.
fn may_be_but_one(instruction: Value<'_>) -> bool {
    let is_phi = |value: Value<'_>| {
        value.is_instruction() && (value.opcode() == opcode::PHI || value.is_resizing())
    };
    instruction.opcode() == opcode::ICMP
        && matches!(
            instruction.predicate(),
            predicate::EQUAL | predicate::NOT_EQUAL
        )
        && [0, 1]
            .map(|n| instruction.operand(n))
            .into_iter()
            .flatten()
            .any(is_phi)
}

/// Rewrites the loops of a function; tells whether it did.
fn join_in<'c>(module: &Module<'c>, function: Value<'c>) -> bool {
    let mut is_changed = false;
    let mut dominators = Dominators::of(function);
    for found in loops::all(function) {
        let found = found
            .blocks
            .iter()
            .find_map(|&block| Others::at(module, &found, &dominators, block));
        if let Some(others) = found {
            others.make();
            dominators = Dominators::of(function);
            is_changed = true;
        }
    }
    is_changed
}

/// What the rounds do but one.
struct Others<'c> {
    /// The branch to it.
    branch: Value<'c>,
    /// Whether it goes there where its condition holds.
    is_if: bool,
    block: Block<'c>,
    /// Where that one round goes on.
    behind: Block<'c>,
}

impl<'c> Others<'c> {
    /// What stands behind the branch at the end of a block of a loop.
    fn at(
        module: &Module<'c>,
        found: &Loop<'c>,
        dominators: &Dominators<'c>,
        before: Block<'c>,
    ) -> Option<Others<'c>> {
        let branch = before
            .terminator()
            .filter(|end| end.opcode() == opcode::BRANCH)?;
        let [yes, no]: [Block<'c>; 2] = branch.successors().try_into().ok()?;
        let is_if = but_one(branch.operand(0)?, found)? == predicate::NOT_EQUAL;
        let (block, behind) = if is_if { (yes, no) } else { (no, yes) };
        let ends = block.successors();
        let is_right = block != behind
            && found.blocks.contains(&block)
            && found.blocks.contains(&behind)
            && block != found.header
            && dominators.only_before(block) == Some(before)
            && ends.iter().filter(|to| **to == behind).count() == 1
            && ends.iter().all(|to| found.blocks.contains(to))
            && block.terminator()?.opcode() == opcode::BRANCH;
        let mut all = block.instructions();
        all.pop();
        let may_be_executed = |i: &Value<'c>| match i.opcode() {
            opcode::LOAD => is_known_there(module, dominators, *i, before),
            _ => is_harmless(*i),
        };
        let is_worth_it = all.iter().any(|i| i.opcode() == opcode::LOAD);
        (is_right && is_worth_it && all.len() <= MOST && all.iter().all(may_be_executed)).then_some(
            Others {
                branch,
                is_if,
                block,
                behind,
            },
        )
    }

    /// Does it in all rounds.
    fn make(self) {
        let Others {
            branch,
            is_if,
            block,
            behind,
        } = self;
        let (Some(condition), Some(end)) = (branch.operand(0), block.terminator()) else {
            return;
        };
        let before = branch.block();
        for one in block.instructions() {
            if one != end {
                one.move_before(branch);
                for known in ["noundef", "nonnull", "range", "align"] {
                    one.drop_metadata(known);
                }
            }
        }
        let place = Place::before(branch);
        let choose = |others, one| match is_if {
            true => place.select(condition, others, one),
            false => place.select(condition, one, others),
        };
        for phi in behind.phis() {
            let [others, one] = [block, before].map(|from| phi.incoming_from(from));
            let incoming = phi.incoming();
            let Some((others, one)) = others.zip(one) else {
                continue;
            };
            let value = if others == one {
                one
            } else {
                choose(others, one)
            };
            let new = phi.build_phi_before(phi);
            for (old, from) in incoming.into_iter().filter(|(_, from)| *from != block) {
                new.add_incoming(if from == before { value } else { old }, from);
            }
            phi.replace_by(new);
        }
        let ways = end.successors();
        match (&ways[..], end.operand(0)) {
            (&[yes, no], Some(inner)) => {
                let other = if yes == behind { no } else { yes };
                let constant = |is: bool| place.constant(1, u64::from(is));
                // Of the one round: on to where it goes.
                let inner = choose(inner, constant(yes == behind));
                other.replace_incoming(block, &[before]);
                before.push_branch(inner, yes, no);
            }
            _ => {
                before.push_jump(behind);
            }
        }
        branch.erase();
        end.erase();
        block.push_unreachable();
    }
}

/// The predicate of a condition that differs in one round from what it is in the others.
fn but_one<'c>(condition: Value<'c>, found: &Loop<'c>) -> Option<i32> {
    let is_comparison =
        condition.kind() == ValueKind::Instruction && condition.opcode() == opcode::ICMP;
    let predicate = is_comparison.then(|| condition.predicate())?;
    let (left, right) = (condition.operand(0)?, condition.operand(1)?);
    let is_counted = |a, b| is_counter(a, found) && !is_inside(found, b);
    let is_one = matches!(predicate, predicate::EQUAL | predicate::NOT_EQUAL)
        && (is_counted(left, right) || is_counted(right, left));
    is_one.then_some(predicate)
}

/// Whether a value is a counter of a loop, or one in other bits.
fn is_counter<'c>(value: Value<'c>, found: &Loop<'c>) -> bool {
    if !is_inside(found, value) {
        return false;
    }
    if value.is_resizing() {
        return value
            .operand(0)
            .is_some_and(|inner| is_counter(inner, found));
    }
    value.opcode() == opcode::PHI
        && value.block() == found.header
        && Counter::of(value, found).is_some()
}

/// Whether a load is of an element that the slice has, as is known at the end of a block.
fn is_known_there<'c>(
    module: &Module<'c>,
    dominators: &Dominators<'c>,
    load: Value<'c>,
    end: Block<'c>,
) -> bool {
    let Some(part) = Part::of_load(module, load) else {
        return false;
    };
    let mut block = end;
    while let Some(above) = dominators.above(block) {
        let only = dominators.only_before(block) == Some(above);
        if only && is_below(above, block, part.index, part.slice.length) {
            return true;
        }
        block = above;
    }
    false
}

/// Whether a block leads to another one only if one number is below another one.
fn is_below<'c>(from: Block<'c>, to: Block<'c>, number: Value<'c>, limit: Value<'c>) -> bool {
    let Some(branch) = from
        .terminator()
        .filter(|end| end.opcode() == opcode::BRANCH)
    else {
        return false;
    };
    let Some(condition) = branch
        .operand(0)
        .filter(|one| one.kind() == ValueKind::Instruction && one.opcode() == opcode::ICMP)
    else {
        return false;
    };
    let predicate = match branch.successors().first() == Some(&to) {
        true => condition.predicate(),
        false => predicate::inverted(condition.predicate()),
    };
    let (Some(left), Some(right)) = (condition.operand(0), condition.operand(1)) else {
        return false;
    };
    let (below, above) = match predicate {
        predicate::LESS => (left, right),
        predicate::GREATER => (right, left),
        _ => return false,
    };
    let is_extended = below.is_instruction()
        && below.opcode() == opcode::ZEXT
        && below.operand(0) == Some(number);
    above == limit && (below == number || is_extended)
}
