//! The rounds that are left behind the copies, if their loads wait for each other: as many as may be left are made at a time.
//!
//! ```text
//! follows_2 = i + 1 < n; follows_3 = follows_2 && i + 2 < n
//! x1 = a[i]; x2 = a[follows_2 ? i + 1 : i]; x3 = a[follows_3 ? i + 2 : ..]
//! if x1 < m && x2 < m && x3 < m {
//!     y1 = b[x1]; y2 = b[x2]; y3 = b[x3]
//!     three rounds without these loads; their results up to the last one that follows
//! } else { the loop as it was }
//! ```
//!
//! One by one, the loads of three rounds are waited for six times; so, twice. A round that does not follow loads what the one before it loads, which is
//! one access. Loops of few rounds, which do not go through the copies, are made so, too.
//!
//! Rounds that only compute are executed in vain where they do not follow. Others have their tests between them: LLVM then brings a load that only one round
//! uses to that one.

use super::ROUNDS;
use super::early::{Early, Made};
use super::rounds::Rounds;
use super::scopes::is_scope;
use super::steps::Test;
use crate::linker::harmless::is_harmless;
use crate::linker::loops::{Loop, is_inside};
use crate::llvm::{Block, Place, Value, opcode};

/// As many as may be left.
const LAST: usize = ROUNDS - 1;

/// The block in which threads meet that have rounds left, and those that have none: from the copies, and past them.
pub(super) struct Left<'l, 'c> {
    pub block: Block<'c>,
    found: &'l Loop<'c>,
    /// What stands for the loop's phis in it.
    phis: Vec<(Value<'c>, Value<'c>)>,
}

impl<'l, 'c> Left<'l, 'c> {
    /// Gives an empty block the phis of a loop, which have no values yet.
    pub(super) fn in_block(block: Block<'c>, found: &'l Loop<'c>) -> Left<'l, 'c> {
        let phis = found.header.phis().into_iter();
        Left {
            block,
            found,
            phis: phis.map(|phi| (phi, block.push_phi(phi))).collect(),
        }
    }

    /// Gives the phis their values from before the loop and from the end of the last copy, after all others. Lets the block stand for that end where the
    /// last copy's values are asked for, and gives the test by which rounds are left.
    pub(super) fn meet(
        &self,
        rounds: &mut Rounds<'_, 'c>,
        test: &Test<'c>,
        latch: Block<'c>,
    ) -> Value<'c> {
        let Loop { before, .. } = *self.found;
        for &(phi, own) in &self.phis {
            let values = (
                phi.incoming_from(before),
                phi.incoming_from(self.found.latch),
            );
            if let (Some(at_first), Some(next)) = values {
                own.add_incoming(at_first, before);
                own.add_incoming(rounds.last().value(next), latch);
            }
        }
        let incoming = self.phis.iter().flat_map(|(_, own)| own.incoming());
        let mut others: Vec<_> = Vec::new();
        for (_, from) in incoming {
            if from != latch && !others.contains(&from) {
                others.push(from);
            }
        }
        let meet = |value: Value<'c>, otherwise: Value<'c>| {
            let phi = self.block.push_phi(value);
            phi.add_incoming(value, latch);
            for &from in &others {
                phi.add_incoming(otherwise, from);
            }
            phi
        };
        // All that come from elsewhere have a round left.
        let goes_on = rounds.last().value(test.comparison);
        let is_left = u64::from(test.again == 0);
        let goes_on = meet(goes_on, Value::integer_like(is_left, goes_on));
        for value in given(self.found) {
            let last = rounds.last().value(value);
            rounds.set_last(value, meet(last, Value::undefined(last.ty(), last)));
        }
        goes_on
    }
}

/// What is made in a loop and used behind its latch.
fn given<'c>(found: &Loop<'c>) -> Vec<Value<'c>> {
    let mut given = Vec::new();
    for phi in found.behind().into_iter().flat_map(Block::phis) {
        let value = phi.incoming_from(found.latch);
        if let Some(value) =
            value.filter(|value| is_inside(found, *value) && !given.contains(value))
        {
            given.push(value);
        }
    }
    given
}

/// Puts these rounds, behind which the loop follows if more are left. Gives the block that they begin in, to which `left` is to lead.
pub(super) fn put<'c>(
    function: Value<'c>,
    test: &Test<'c>,
    early: &Early<'c>,
    left: &Left<'_, 'c>,
) -> Option<Block<'c>> {
    let found = left.found;
    let (header, behind) = (found.header, found.behind()?);
    let block = function.append_block();
    let phis = left.phis.clone();
    let mut made = Made::last((early, found), (test, LAST), block, &phis);
    let mut next = block;
    if let Some(inside) = made.enters {
        next = function.append_block();
        block.push_branch(inside, next, header);
        for &(phi, copy) in &phis {
            phi.add_incoming(copy, block);
        }
    }
    next = made.load_all(function, next, header);
    let may_be_in_vain = only_computes(found, &made.known[0]);
    let mut rounds = Rounds::of(found);
    let mut known = phis;
    let mut ends = Vec::new();
    for n in 0..LAST {
        known.extend(&made.known[n]);
        rounds.add(function, next, &known);
        known.clear();
        let round = rounds.last();
        let (latch, goes_on) = (round.block(found.latch), round.value(test.comparison));
        if n + 1 == LAST {
            ends.push((n, latch));
            continue;
        }
        next = function.append_block();
        match test.again {
            _ if may_be_in_vain => latch.push_jump(next),
            0 => latch.push_branch(goes_on, next, behind),
            _ => latch.push_branch(goes_on, behind, next),
        };
        if !may_be_in_vain {
            ends.push((n, latch));
        }
    }
    let last = rounds.last();
    let latch = last.block(found.latch);
    for phi in header.phis() {
        if let Some(next) = phi.incoming_from(found.latch) {
            phi.add_incoming(last.value(next), latch);
        }
    }
    let goes_on = last.value(test.comparison);
    let end = match test.again {
        0 => latch.push_branch(goes_on, header, behind),
        _ => latch.push_branch(goes_on, behind, header),
    };
    if may_be_in_vain {
        up_to_the_last(found, test, &made, (&mut rounds, end));
    }
    rounds.leave(&ends, &[]);
    Some(block)
}

/// Gives what is used behind the loop, and the test at the end of the last round, the values of the last round that follows.
fn up_to_the_last<'c>(
    found: &Loop<'c>,
    test: &Test<'c>,
    made: &Made<'_, 'c>,
    (rounds, end): (&mut Rounds<'_, 'c>, Value<'c>),
) {
    let place = Place::before(end);
    let values = given(found).into_iter().chain([test.comparison]);
    for value in values {
        let mut of_rounds = rounds.values(value).into_iter();
        let Some(first) = of_rounds.next() else {
            continue;
        };
        let chosen = of_rounds
            .zip(made.follow())
            .fold(first, |before, (own, follows)| {
                place.select(*follows, own, before)
            });
        rounds.set_last(value, chosen);
    }
    end.set_operand(0, rounds.last().value(test.comparison));
}

/// Whether a round does nothing but compute once these values are known.
fn only_computes<'c>(found: &Loop<'c>, known: &[(Value<'c>, Value<'c>)]) -> bool {
    let known_as = |value: Value<'c>| {
        let mut known = known.iter().filter(|(one, _)| *one == value);
        known.next().map(|(_, known)| *known)
    };
    let goes_on_inside = |end: Value<'c>| {
        let to = end.successors();
        let way = match to[..] {
            [to] => Some(to),
            [yes, no] => {
                let decided = end.operand(0).and_then(known_as);
                match decided.and_then(Value::as_integer) {
                    Some(0) => Some(no),
                    Some(_) => Some(yes),
                    None => None,
                }
            }
            _ => None,
        };
        end.opcode() == opcode::BRANCH && way.is_some_and(|to| found.blocks.contains(&to))
    };
    let mut all = found.blocks.iter().flat_map(|block| block.instructions());
    found.is_straight()
        && all.all(|one| match one.is_terminator() {
            true => one.block() == found.latch || goes_on_inside(one),
            false => {
                one.opcode() == opcode::PHI
                    || is_scope(one)
                    || known_as(one).is_some()
                    || is_harmless(one)
            }
        })
}
