//! Loops over ranges that include their end decide about the next round at the end of each one.
//!
//! ```text
//! round: i = phi start, next             before: is_over = start > end
//!     ended = phi false, is_last         round: i = phi start, i + 1
//!     if ended || i > end { break }          ended = phi is_over, is_last
//!     is_last = i >= end                     if ended { break }
//!     next = i + (is_last ? 0 : 1)           is_last = i >= end
//! ```
//!
//! `RangeInclusive` keeps a flag, as the number behind its end may not fit the type. With both tests the loop has no trip count for LLVM until
//! `branch_values` takes them apart, which is after a loop around it was unrolled and its branches were threaded.
//!
//! Where a round goes on, `i <= end`; unless it was the last one, `i < end`, so that `i + 1 <= end`. So behind a round the second test never holds unless the flag
//! does, and before the first round only the second one can. The sum wraps around behind the last round at most, where nothing uses it.

use rustc_hash::FxHashSet as HashSet;

use super::branch_values::{Edge, Parts, parts};
use crate::llvm::{Block, Module, Place, Value, opcode, predicate};

/// Rewrites such loops.
pub(super) fn count(module: &Module<'_>) {
    for function in module.functions() {
        for header in function.blocks() {
            if let Some(found) = Inclusive::at(header) {
                found.rewrite();
            }
        }
    }
}

/// A loop over such a range.
struct Inclusive<'c> {
    /// The branch that leaves it.
    branch: Value<'c>,
    /// The one of the second test, if it has its own.
    second: Option<Value<'c>>,
    /// Whether a round was the last one.
    ended: Value<'c>,
    is_last: Value<'c>,
    number: Value<'c>,
    next: Value<'c>,
    /// What a round adds to the number: 1, or -1 in a reversed range.
    step: i64,
    /// The test for the first round.
    over: Bound<'c>,
}

impl<'c> Inclusive<'c> {
    /// The loop that begins with this block, if it is one.
    fn at(header: Block<'c>) -> Option<Inclusive<'c>> {
        let is_phi = |value: &Value<'c>| {
            value.is_instruction() && value.opcode() == opcode::PHI && value.block() == header
        };
        let [out, body] = ways(header)?;
        let test = header.terminator()?.operand(0)?;
        let both = test.is_instruction().then(|| parts(test)).flatten();
        let (ended, over, last, body) = match both {
            Some(Parts::Either(ended, over)) if is_phi(&ended) => (ended, over, header, body),
            Some(Parts::Either(over, ended)) if is_phi(&ended) => (ended, over, header, body),
            _ => {
                let (over, inside) = second_test(header, out, body)?;
                (Some(test).filter(is_phi)?, over, body, inside)
            }
        };
        // It would be another one where the loop is left.
        if over.users().len() != 1 {
            return None;
        }
        let rounds = Rounds::of(ended)?;
        let mut numbers = header.phis().into_iter();
        numbers.find_map(|number| {
            number
                .integer_bits()
                .filter(|bits| *bits <= 64 && !number.is_pointer())?;
            let next = rounds.value_of(number)?;
            let (condition, holds, step) = stepped(next, number)?;
            let goes_on = Bound::of(rounds.is_last, false, number)?;
            let steps = Bound::of(condition, holds, number)?;
            let bound = Bound::of(over, true, number)?;
            let is_invariant = !bound.limit.is_instruction() || bound.limit.block() != header;
            let is_right = |after: Bound<'c>| bound.allows(after) && step == bound.step();
            if !is_invariant || !is_right(goes_on) || !is_right(steps) {
                return None;
            }
            // So would the number.
            let mut edge = Edge::new(last, body);
            let mut is_inside = |user: Value<'c>| {
                let mut operands = 0..user.operand_count();
                operands.all(|n| user.operand(n) != Some(number) || edge.leads_to_use(user, n))
            };
            let mut users = number.users().into_iter();
            let is_unused_outside = users.all(|user| user == over || is_inside(user));
            is_unused_outside.then_some(Inclusive {
                branch: header.terminator()?,
                second: (last != header).then(|| last.terminator()).flatten(),
                ended,
                is_last: rounds.is_last,
                number,
                next,
                step,
                over: bound,
            })
        })
    }

    fn rewrite(&self) {
        let most = self
            .number
            .integer_bits()
            .map_or(0, |bits| u64::MAX >> (64 - bits));
        let step = Value::integer_like(self.step as u64 & most, self.number);
        let sum = Place::before(self.next).binary(opcode::ADD, self.number, step);
        for (n, (_, from)) in (0..).zip(self.number.incoming()) {
            if self.ended.incoming_from(from) == Some(self.is_last) {
                self.number.set_operand(n, sum);
            }
        }
        let ended = self.ended.build_phi_before(self.ended);
        for (value, from) in self.ended.incoming() {
            let first = self.number.incoming_from(from).zip(from.terminator());
            let value = match first {
                Some((first, end)) if is_false(value) => {
                    let Bound { predicate, limit } = self.over;
                    Place::before(end).comparison(predicate, first, limit)
                }
                _ => value,
            };
            ended.add_incoming(value, from);
        }
        self.branch.set_operand(0, ended);
        if let (Some(second), Some(out)) = (self.second, self.branch.successors().first()) {
            // LLVM takes the branch away, and the entries of phis with it.
            let goes_on = second.successors().first() != Some(out);
            second.set_operand(0, Value::integer_like(goes_on.into(), ended));
        }
    }
}

/// What is tested in a block of its own behind the first test, and leads out where it holds; and the block to which it leads else.
fn second_test<'c>(
    header: Block<'c>,
    out: Block<'c>,
    second: Block<'c>,
) -> Option<(Value<'c>, Block<'c>)> {
    let [way_out, inside] = ways(second)?;
    let is_way_out = way_out == out;
    let test = second.terminator()?.operand(0)?;
    let has_nothing_else = second.instructions().len() == 2 && second.instructions()[0] == test;
    let is_entered_here = test.is_instruction() && {
        let function = test.function()?;
        let mut others = function
            .blocks()
            .into_iter()
            .filter(|block| *block != header);
        !others.any(|block| block.successors().contains(&second))
    };
    let mut phis = out.phis().into_iter();
    let is_same = phis.all(|phi| phi.incoming_from(header) == phi.incoming_from(second));
    (is_way_out && has_nothing_else && is_entered_here && is_same).then_some((test, inside))
}

/// The two blocks to which a branch leads: where its condition holds, and where it does not.
fn ways(block: Block<'_>) -> Option<[Block<'_>; 2]> {
    let branch = block.terminator()?;
    let ways: [Block<'_>; 2] = branch.successors().try_into().ok()?;
    (branch.opcode() == opcode::BRANCH && ways[0] != ways[1]).then_some(ways)
}

/// The ways that lead round in a loop, by the flag that is set on them alone.
struct Rounds<'c> {
    ended: Value<'c>,
    is_last: Value<'c>,
}

impl<'c> Rounds<'c> {
    fn of(ended: Value<'c>) -> Option<Rounds<'c>> {
        let incoming = ended.incoming();
        let from: HashSet<_> = incoming.iter().map(|(_, from)| *from).collect();
        let mut values = incoming.iter().map(|(value, _)| *value);
        let is_last = values.find(|value| !is_false(*value))?;
        let is_known = from.len() == incoming.len()
            && is_last.is_instruction()
            && values.all(|value| value == is_last || is_false(value));
        is_known.then_some(Rounds { ended, is_last })
    }

    /// What another phi of the same block has on all of them.
    fn value_of(&self, phi: Value<'c>) -> Option<Value<'c>> {
        let incoming = self.ended.incoming().into_iter();
        let of_rounds = incoming.filter(|(value, _)| *value == self.is_last);
        let mut values = of_rounds.map(|(_, from)| phi.incoming_from(from));
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    }
}

/// A comparison of the number, which stands on its left.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Bound<'c> {
    predicate: i32,
    limit: Value<'c>,
}

impl<'c> Bound<'c> {
    /// What it says of the number that a condition is `holds`.
    fn of(condition: Value<'c>, holds: bool, number: Value<'c>) -> Option<Bound<'c>> {
        if !condition.is_instruction() {
            return None;
        }
        if let Some(Parts::Not(negated)) = parts(condition) {
            return Bound::of(negated, !holds, number);
        }
        if condition.opcode() != opcode::ICMP {
            return None;
        }
        let (left, right) = (condition.operand(0)?, condition.operand(1)?);
        let (predicate, limit) = match (left == number, right == number) {
            (true, false) => (condition.predicate(), right),
            (false, true) => (predicate::swapped(condition.predicate()), left),
            _ => return None,
        };
        let predicate = match holds {
            true => predicate,
            false => predicate::inverted(predicate),
        };
        Some(Bound { predicate, limit }.strict())
    }

    /// The same without equality, of a constant: `i <= 4` is `i < 5`.
    fn strict(self) -> Bound<'c> {
        let (Some(limit), Some(bits)) = (self.limit.as_integer(), self.limit.integer_bits()) else {
            return self;
        };
        let most = u64::MAX >> (64 - bits);
        let highest_signed = most >> 1;
        let (predicate, added, last) = match self.predicate {
            predicate::LESS_OR_EQUAL => (predicate::LESS, 1, most),
            predicate::SIGNED_LESS_OR_EQUAL => (predicate::SIGNED_LESS, 1, highest_signed),
            predicate::GREATER_OR_EQUAL => (predicate::GREATER, u64::MAX, 0),
            predicate::SIGNED_GREATER_OR_EQUAL => {
                (predicate::SIGNED_GREATER, u64::MAX, highest_signed + 1)
            }
            _ => return self,
        };
        if limit == last {
            return self;
        }
        Bound {
            predicate,
            limit: Value::integer_like(limit.wrapping_add(added) & most, self.limit),
        }
    }

    /// Whether `after` says, where this does not hold, that the number is not the limit itself.
    fn allows(self, after: Bound<'c>) -> bool {
        let opposite = predicate::swapped(self.predicate);
        self.limit == after.limit && [opposite, predicate::NOT_EQUAL].contains(&after.predicate)
    }

    /// The step towards numbers that are beyond the limit; 0 if it is no such bound.
    fn step(self) -> i64 {
        match self.predicate {
            predicate::GREATER | predicate::SIGNED_GREATER => 1,
            predicate::LESS | predicate::SIGNED_LESS => -1,
            _ => 0,
        }
    }
}

/// The condition under which a sum is one step from the number, else the number itself, and the step.
fn stepped<'c>(sum: Value<'c>, number: Value<'c>) -> Option<(Value<'c>, bool, i64)> {
    let can_be = [opcode::ADD, opcode::SUB, opcode::SELECT];
    if !sum.is_instruction() || !can_be.contains(&sum.opcode()) {
        return None;
    }
    let (one, other) = (sum.operand(0)?, sum.operand(1)?);
    let condition = |value: Value<'c>| {
        let condition = value.extended()?;
        let step = match value.opcode() {
            opcode::ZEXT => 1,
            _ => -1,
        };
        (condition.integer_bits() == Some(1)).then_some((condition, true, step))
    };
    match sum.opcode() {
        opcode::ADD if one == number => condition(other),
        opcode::ADD if other == number => condition(one),
        opcode::SUB if one == number => {
            let (condition, holds, step) = condition(other)?;
            Some((condition, holds, -step))
        }
        opcode::SELECT => {
            let (sum, holds) = match sum.operand(2)? {
                last if last == number => (other, true),
                sum if other == number => (sum, false),
                _ => return None,
            };
            let is_sum = sum.is_instruction() && sum.opcode() == opcode::ADD;
            let step = is_sum.then(|| sum.operand(1)?.as_integer()).flatten()?;
            let bits = sum.integer_bits()?;
            let step = (step << (64 - bits)) as i64 >> (64 - bits);
            let is_step = sum.operand(0) == Some(number) && [1, -1].contains(&step);
            is_step.then_some((one, holds, step))
        }
        _ => None,
    }
}

fn is_false(value: Value<'_>) -> bool {
    value.as_integer() == Some(0)
}
