//! A loop of which it can be told beforehand that all rounds pass their bounds checks is gone through without them.
//!
//! ```text
//! do { if i + k >= n { panic } ..; k += 1 } while k < m
//! ```
//! becomes
//! ```text
//! if i + k < n && m - (k + 1) < n - (i + k) {  // the rounds behind the first one
//!     do { ..; k += 1 } while k < m
//! } else {
//!     do { if i + k >= n { panic } ..; k += 1 } while k < m
//! }
//! ```
//!
//! Each round's loads wait for its check, and a loop with several ends is not unrolled further by ptxas. The checks are those that each round makes, of
//! a value that it changes by a step, against one that stays the same. Rounds that do not all pass them are made by the loop as it was, so what a thread
//! does before it panics is the same. Loops in which threads meet stay as they are: threads would meet in two places.

use super::copies;
use super::step::Step;
use super::steps::{Changes, NOT_TO_UNROLL, Test, Until, in_first_round, is_inside};
use crate::linker::loops::{self, Loop};
use crate::llvm::{Block, Module, Place, Value, opcode, predicate};

/// A loop of more instructions has enough to do besides.
const MOST_INSTRUCTIONS: usize = 80;

/// How many checks a loop may have: each is tested before it.
const MOST_CHECKS: usize = 4;

/// A check that each round makes: it goes on if `value < limit`.
struct Check<'c> {
    /// The block that it ends, and where that goes on.
    block: Block<'c>,
    next: Block<'c>,
    value: Value<'c>,
    limit: Value<'c>,
    values: Values<'c>,
    bits: u32,
}

/// Which values a check compares.
#[derive(Clone, Copy)]
enum Values<'c> {
    /// One that each round changes by a step.
    Steps(Step<'c>),
    /// Some that are not greater than this.
    UpTo(u64),
}

/// Gives the loops of a function such a copy; whether there were any.
pub(super) fn release<'c>(module: &Module<'c>, function: Value<'c>) -> bool {
    let found = loops::innermost(function).into_iter();
    let released = found.filter(|found| release_loop(module, function, found));
    released.count() > 0
}

fn release_loop<'c>(module: &Module<'c>, function: Value<'c>, found: &Loop<'c>) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.instructions());
    if instructions().count() > MOST_INSTRUCTIONS
        || !instructions().all(|i| copies::may_be_copied(i) && !copies::is_meeting(i))
    {
        return false;
    }
    let Some(test) = Test::of(module, found) else {
        return false;
    };
    // An elementwise loop over what a block or a warp has is short: what is tested before it costs more than the checks.
    let is_elementwise = instructions().any(|i| i.opcode() == opcode::STORE);
    let is_of_grid = || test.step.value.is_some_and(|(step, _)| has_blocks(step));
    if is_elementwise && !is_of_grid() {
        return false;
    }
    let checks = checks(module, found);
    if checks.is_empty() || checks.len() > MOST_CHECKS {
        return false;
    }
    let Some(pass) = all_pass(found, &test, &checks) else {
        return false;
    };
    let passed: Vec<_> = checks
        .iter()
        .map(|check| (check.block, check.next))
        .collect();
    let copy = copies::copy_without(function, found, &test, &passed);
    found.before.terminator().inspect(|jump| jump.erase());
    found.before.push_branch(pass, copy, found.header);
    let latch = found.latch.terminator();
    latch.inspect(|latch| latch.set_loop_property(NOT_TO_UNROLL));
    true
}

/// Whether a step is computed from the number of the grid's blocks.
fn has_blocks(step: Value<'_>) -> bool {
    const BLOCKS: &str = "llvm.nvvm.read.ptx.sreg.nctaid.";
    let callee = step.is_call().then(|| step.callee()).flatten();
    if callee.is_some_and(|callee| callee.name().starts_with(BLOCKS)) {
        return true;
    }
    let is_product =
        step.is_call() || [opcode::MUL, opcode::SHL, opcode::ZEXT].contains(&step.opcode());
    let mut factors = (0..step.operand_count()).filter_map(|n| step.operand(n));
    is_product && factors.any(has_blocks)
}

/// The checks that every round makes.
fn checks<'c>(module: &Module<'c>, found: &Loop<'c>) -> Vec<Check<'c>> {
    let mut changes = Changes::of_loop(module, found);
    let mut all = Vec::new();
    let mut block = found.header;
    while block != found.latch {
        let inside: Vec<_> = block
            .successors()
            .into_iter()
            .filter(|to| found.blocks.contains(to))
            .collect();
        let &[next] = &inside[..] else {
            break;
        };
        all.extend(check(&mut changes, found, block, next));
        block = next;
    }
    all
}

/// The check at the end of a block, if it is one.
fn check<'c>(
    changes: &mut Changes<'_, 'c>,
    found: &Loop<'c>,
    block: Block<'c>,
    next: Block<'c>,
) -> Option<Check<'c>> {
    let branch = block.terminator()?;
    let [yes, no]: [Block<'c>; 2] = branch.successors().try_into().ok()?;
    let other = if yes == next { no } else { yes };
    let comparison = branch.operand(0)?;
    if !other.is_dead_end() || !is_inside(found, comparison) || comparison.opcode() != opcode::ICMP
    {
        return None;
    }
    let (left, right) = (comparison.operand(0)?, comparison.operand(1)?);
    let (value, limit) = match (comparison.predicate(), yes == next) {
        (predicate::LESS, true) | (predicate::GREATER_OR_EQUAL, false) => (left, right),
        (predicate::GREATER, true) | (predicate::LESS_OR_EQUAL, false) => (right, left),
        _ => return None,
    };
    let bits = value
        .integer_bits()
        .filter(|bits| matches!(bits, 32 | 64))?;
    let values = match changes.of(value) {
        Some(step) if step != Step::ZERO => Values::Steps(step),
        Some(_) => return None,
        None => Values::UpTo(greatest(value)?),
    };
    let is_check = is_inside(found, value) && !is_inside(found, limit);
    is_check.then_some(Check {
        block,
        next,
        value,
        limit,
        values,
        bits,
    })
}

/// The greatest number that a value of few bits may be.
fn greatest(value: Value<'_>) -> Option<u64> {
    match value.opcode() {
        opcode::ZEXT => match value.operand(0)?.integer_bits()? {
            bits @ ..=16 => Some((1 << bits) - 1),
            _ => greatest(value.operand(0)?),
        },
        opcode::AND => value.operand(1)?.as_integer(),
        _ => None,
    }
}

/// Puts whether all rounds pass the checks at the end of the block before the loop.
fn all_pass<'c>(found: &Loop<'c>, test: &Test<'c>, checks: &[Check<'c>]) -> Option<Value<'c>> {
    let before = found.before;
    // What is copied goes to the very end of the block.
    before.terminator()?.erase();
    let ends = [test.less, test.more].map(|value| in_first_round(found, value));
    let starts: Option<Vec<_>> = checks
        .iter()
        .map(|check| match check.values {
            Values::Steps(_) => in_first_round(found, check.value),
            Values::UpTo(greatest) => Some(Value::integer_like(greatest, check.value)),
        })
        .collect();
    let like = match test.bits {
        64 => Value::integer(0, test.less),
        _ => test.less,
    };
    let ends = ends.map(|end| {
        end.map(|end| match end.is_pointer() {
            true => before.push_address(end, like),
            false => end,
        })
    });
    let place = Place::before(before.push_jump(found.header));
    let ([Some(less), Some(more)], Some(starts)) = (ends, starts) else {
        return None;
    };
    let mut tests = Tests {
        place,
        parts: Vec::new(),
    };
    let rounds = tests.rounds(found, test, less, more)?;
    for (check, start) in checks.iter().zip(starts) {
        tests
            .parts
            .push(place.comparison(predicate::LESS, start, check.limit));
        if let Values::Steps(step) = check.values {
            tests.passes(check, step, start, &rounds)?;
        }
    }
    // What was never computed where the first round leaves the loop may be poison, and any answer is right then.
    let parts = tests.parts.into_iter().map(|part| place.freeze(part));
    parts.reduce(|all, part| place.binary(opcode::AND, all, part))
}

/// How many rounds follow the first one.
enum Rounds<'c> {
    /// So many, in 64 bits.
    Number(Value<'c>),
    /// So many steps of a number of run time as there are in a distance, or one more where something is left.
    Steps {
        distance: Value<'c>,
        step: Step<'c>,
        bits: u32,
    },
}

/// Tests that are put before the loop: all have to hold.
struct Tests<'c> {
    place: Place<'c>,
    parts: Vec<Value<'c>>,
}

impl<'c> Tests<'c> {
    /// The rounds behind the first one, at whose end `less` and `more` are compared.
    fn rounds(
        &mut self,
        found: &Loop<'c>,
        test: &Test<'c>,
        less: Value<'c>,
        more: Value<'c>,
    ) -> Option<Rounds<'c>> {
        let (place, bits) = (self.place, test.bits);
        let constant = |number| place.constant(bits, number);
        let difference = place.binary(opcode::SUB, more, less);
        let distance = match test.until {
            Until::Equal => difference,
            Until::Past => {
                let is_left = place.comparison(predicate::LESS, less, more);
                place.select(is_left, difference, constant(0))
            }
        };
        let one_step = match test.step.value {
            None => constant(u64::try_from(test.step.constant).ok()?),
            Some(_) => self.number(test.step, bits)?,
        };
        // The last step must not go past the end of the type, where the loop would begin anew.
        let is_one = test.step == Step::of_constant(1);
        if test.until == Until::Past && !is_one {
            let (end, room) = match is_inside(found, test.less) {
                true => {
                    let most =
                        place.binary(opcode::XOR, one_step, constant(u64::MAX >> (64 - bits)));
                    (more, most)
                }
                false => (one_step, less),
            };
            self.parts
                .push(place.comparison(predicate::LESS_OR_EQUAL, end, room));
        }
        if test.step.value.is_some() {
            return (test.until == Until::Past).then_some(Rounds::Steps {
                distance,
                step: test.step,
                bits,
            });
        }
        let step = u64::try_from(test.step.constant).ok()?;
        if !step.is_power_of_two() {
            return None;
        }
        if is_one {
            return Some(Rounds::Number(place.resized(distance, 64)));
        }
        let left = place.binary(opcode::AND, distance, constant(step - 1));
        let whole = place.binary(opcode::LSHR, distance, constant(step.ilog2().into()));
        let whole = place.resized(whole, 64);
        Some(Rounds::Number(match test.until {
            Until::Equal => {
                self.parts
                    .push(place.comparison(predicate::EQUAL, left, constant(0)));
                whole
            }
            Until::Past => {
                let is_more = place.comparison(predicate::NOT_EQUAL, left, constant(0));
                let one = place.resized(is_more, 64);
                place.binary(opcode::ADD, whole, one)
            }
        }))
    }

    /// Adds that a check's value, `start` in the first round and below its limit there, is so in all rounds.
    fn passes(
        &mut self,
        check: &Check<'c>,
        of_check: Step<'c>,
        start: Value<'c>,
        rounds: &Rounds<'c>,
    ) -> Option<()> {
        let place = self.place;
        let constant = |number| place.constant(check.bits, number);
        let room = place.binary(opcode::SUB, check.limit, start);
        let rounds = match *rounds {
            Rounds::Number(rounds) => rounds,
            // As many steps, so the last value is nearer to the first than `distance + step`.
            Rounds::Steps {
                distance,
                step,
                bits,
            } => {
                if step != of_check || bits != check.bits {
                    return None;
                }
                let step = self.number(step, bits)?;
                self.parts
                    .push(place.comparison(predicate::LESS_OR_EQUAL, step, room));
                let most = place.binary(opcode::SUB, room, step);
                self.parts
                    .push(place.comparison(predicate::LESS_OR_EQUAL, distance, most));
                return Some(());
            }
        };
        let last = place.binary(opcode::SUB, room, constant(1));
        let (size, room) = match of_check {
            Step {
                value: None,
                constant,
            } => {
                // A value that falls must not go below 0.
                let room = if constant < 0 { start } else { last };
                (constant.unsigned_abs(), room)
            }
            _ => (0, last),
        };
        if size.is_power_of_two() {
            let shift = constant(size.ilog2().into());
            let most = place.resized(place.binary(opcode::LSHR, room, shift), 64);
            self.parts
                .push(place.comparison(predicate::LESS_OR_EQUAL, rounds, most));
            return Some(());
        }
        // Products of numbers of 32 bits are exact.
        let step = match size {
            0 => place.resized(self.number(of_check, check.bits)?, 64),
            _ => place.constant(64, size),
        };
        let both = place.binary(opcode::OR, rounds, step);
        let beyond = place.constant(64, 1 << 32);
        self.parts
            .push(place.comparison(predicate::LESS, both, beyond));
        let steps = place.binary(opcode::MUL, rounds, step);
        let room = place.resized(room, 64);
        self.parts
            .push(place.comparison(predicate::LESS_OR_EQUAL, steps, room));
        Some(())
    }

    /// A step of run time as a number of its type; `None` if what it is computed from has another one.
    fn number(&self, step: Step<'c>, bits: u32) -> Option<Value<'c>> {
        let place = self.place;
        let constant = |number: i64| place.constant(bits, number as u64 & u64::MAX >> (64 - bits));
        let (value, factor) = step.value.filter(|(v, _)| v.integer_bits() == Some(bits))?;
        let product = match factor {
            1 => value,
            _ => place.binary(opcode::MUL, value, constant(factor)),
        };
        Some(match step.constant {
            0 => product,
            more => place.binary(opcode::ADD, product, constant(more)),
        })
    }
}
