//! Makes the rounds that are left behind the copies in groups, whose loads are waited for once.
//!
//! ```text
//! do { round } while more         do { more_2 = more_1 && ..; more_3 = more_2 && ..;
//!                                      round; if more_1 { round } if more_2 { round } } while more_3
//! ```
//!
//! The tests are computed before the loads, of what each round steps. Small rounds behind such an `if` get a predicate in the place of a branch, so
//! ptxas brings their loads to the front. Where the copies are gone through as often as they may be, at most three rounds are left, and nothing leads back.

use std::collections::HashSet;

use super::ROUNDS;
use super::scopes::{is_scope, push_copy};
use super::steps::{NOT_TO_UNROLL, Test};
use crate::linker::block_copies::Copies;
use crate::linker::loops::{Loop, is_inside};
use crate::llvm::{Block, Place, Value, opcode};

/// How many instructions a round has at most, without its phis and its end. ptxas keeps the branches around larger ones.
const MOST_INSTRUCTIONS: usize = 12;

/// What may be computed for a round that does not follow, besides plain arithmetic.
const OTHERS: [i32; 7] = [
    opcode::ICMP,
    opcode::ZEXT,
    opcode::TRUNC,
    opcode::FREEZE,
    opcode::PTR_TO_INT,
    opcode::ADDRESS_SPACE_CAST,
    opcode::GET_ELEMENT_POINTER,
];

/// Makes groups of the rounds of a loop that has its copies already.
pub(super) fn group<'c>(function: Value<'c>, found: &Loop<'c>, test: &Test<'c>) {
    let block = found.header;
    let (Some(end), Some(behind)) = (block.terminator(), found.behind()) else {
        return;
    };
    let Some(early) = Early::of(found, test).filter(|_| may_be_grouped(found, behind)) else {
        return;
    };
    let (phis, next) = (block.phis(), |phi: Value<'c>| phi.incoming_from(block));
    let body: Vec<_> = early.rest(block).collect();
    // What is known of a round only where it was made.
    let results = behind.phis().into_iter().filter_map(next);
    let late = phis.iter().filter(|phi| !early.values.contains(phi));
    // In an order that is the same each time, as it numbers registers.
    let mut given: Vec<_> = Vec::new();
    for value in results.chain(late.copied().filter_map(next)) {
        if is_inside(found, value) && !given.contains(&value) {
            given.push(value);
        }
    }

    // The first round gets a block of its own, and this one becomes the end of all, as the phis know it.
    let first = block.split_before(end, function);
    let mut round = Copies::default();
    let mut rounds = Vec::new();
    let mut follows = test.comparison;
    let mut more = vec![follows];
    for _ in 2..ROUNDS {
        let mut following = Copies::default();
        for &phi in phis.iter().filter(|phi| early.values.contains(phi)) {
            if let Some(next) = next(phi) {
                following.set(phi, round.value(next));
            }
        }
        for &value in &early.order {
            push_copy(&mut following, first, value);
        }
        let comparison = following.value(test.comparison);
        let constant = Place::before(end).constant(1, test.again.into());
        follows = match test.again {
            0 => first.push_select(follows, comparison, constant),
            _ => first.push_select(follows, constant, comparison),
        };
        more.push(follows);
        rounds.push(following.clone());
        round = following;
    }

    // The values of the last round that was made.
    let mut last = Copies::default();
    let mut before = first;
    let count = rounds.len();
    for (n, mut round) in rounds.into_iter().enumerate() {
        let made = function.append_block();
        let is_end = n + 1 == count;
        let join = if is_end {
            block
        } else {
            function.append_block()
        };
        for &phi in phis.iter().filter(|phi| !early.values.contains(phi)) {
            if let Some(next) = next(phi) {
                round.set(phi, last.value(next));
            }
        }
        for &value in &body {
            push_copy(&mut round, made, value);
        }
        made.push_jump(join);
        match test.again {
            0 => before.push_branch(more[n], made, join),
            _ => before.push_branch(more[n], join, made),
        };
        for &value in &given {
            let phi = match is_end {
                true => end.build_phi_before(value),
                false => join.push_phi(value),
            };
            phi.add_incoming(last.value(value), before);
            phi.add_incoming(round.value(value), made);
            last.set(value, phi);
        }
        before = join;
    }

    end.set_operand(0, follows);
    end.set_loop_property(NOT_TO_UNROLL);
    for phi in phis.into_iter().chain(behind.phis()) {
        let of = match early.values.contains(&phi) {
            true => &round,
            false => &last,
        };
        for (n, (value, from)) in (0..).zip(phi.incoming()) {
            if from == block {
                phi.set_operand(n, of.value(value));
            }
        }
    }
}

/// Whether groups are worth it, and may be made.
fn may_be_grouped<'c>(found: &Loop<'c>, behind: Block<'c>) -> bool {
    let instructions = found.header.instructions();
    let is_small = instructions.iter().filter(|i| !is_scope(**i)).count()
        <= MOST_INSTRUCTIONS + found.header.phis().len() + 1;
    // Others would have the values of the first round.
    let is_known = |user: &Value<'c>| {
        is_inside(found, *user) || (user.opcode() == opcode::PHI && user.block() == behind)
    };
    let mut users = instructions.iter().flat_map(|value| value.users());
    found.blocks.len() == 1
        && is_small
        && users.all(|user| is_known(&user))
        && !instructions.iter().any(|i| i.opcode() == opcode::STORE)
}

/// What is computed of rounds before it is known whether they follow.
struct Early<'c> {
    /// The phis and operations that need nothing else of the loop.
    values: HashSet<Value<'c>>,
    /// The operations that the tests and those phis need, in their order.
    order: Vec<Value<'c>>,
}

impl<'c> Early<'c> {
    /// `None` if the tests need more.
    fn of(found: &Loop<'c>, test: &Test<'c>) -> Option<Early<'c>> {
        let block = found.header;
        let may_be = |i: &Value<'c>| {
            i.opcode() == opcode::PHI || i.is_plain_arithmetic() || OTHERS.contains(&i.opcode())
        };
        let all: Vec<_> = block.instructions().into_iter().filter(may_be).collect();
        let mut values: HashSet<_> = all.iter().copied().collect();
        let inputs = |value: Value<'c>| -> Vec<_> {
            let inputs: Vec<_> = match value.opcode() {
                opcode::PHI => value.incoming_from(block).into_iter().collect(),
                _ => (0..value.operand_count())
                    .filter_map(|n| value.operand(n))
                    .collect(),
            };
            inputs
                .into_iter()
                .filter(|value| is_inside(found, *value))
                .collect()
        };
        loop {
            let count = values.len();
            let needs_more =
                |value: &Value<'c>| inputs(*value).iter().any(|input| !values.contains(input));
            let others: Vec<_> = values.iter().copied().filter(needs_more).collect();
            others.iter().for_each(|value| {
                values.remove(value);
            });
            if values.len() == count {
                break;
            }
        }
        let mut needed = HashSet::new();
        let mut open = vec![test.comparison];
        open.extend(
            all.iter()
                .filter(|i| i.opcode() == opcode::PHI && values.contains(i)),
        );
        while let Some(value) = open.pop() {
            if needed.insert(value) {
                open.extend(inputs(value));
            }
        }
        let is_operation = |i: &Value<'c>| i.opcode() != opcode::PHI && needed.contains(i);
        values.contains(&test.comparison).then(|| Early {
            order: all.into_iter().filter(is_operation).collect(),
            values,
        })
    }

    /// The other operations of a round.
    fn rest(&self, block: Block<'c>) -> impl Iterator<Item = Value<'c>> {
        let is_rest = |i: &Value<'c>| {
            i.opcode() != opcode::PHI
                && !i.is_terminator()
                && !is_scope(*i)
                && !self.order.contains(i)
        };
        block.instructions().into_iter().filter(is_rest)
    }
}
