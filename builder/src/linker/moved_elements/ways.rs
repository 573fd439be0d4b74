//! Chooses what elements become by conditions, where each end of a search has left them other values.
//!
//! Behind a search that is unrolled, all ends lead to one block, whose phis are the elements. As branches, the threads of a warp would go through the ends
//! one after the other; and ptxas has all moves of all ends in each round. An element is what it was, or the one before it, or the new one, which depends on
//! no more than where the search has ended at the latest:
//!
//! ```text
//!   br c0, end, next                                          p0 = c0, p1 = p0 | c1
//! next:                                                       br p1, found, end
//!   br c1, end, last                                  =>    found:
//! last:                                                       x = p0 ? new : a0; y = p0 ? a0 : new
//!   br end                                                    br end
//! end:                                                      end:
//!   phi [new, ..], [a0, next], [a0, last]                     phi [x, found], [a0, ..]
//!   phi [a0, ..], [new, next], [a1, last]                     phi [y, found], [a1, ..]
//! ```

use super::find::MOST_WAYS;
use crate::linker::narrow::dominators::Dominators;
use crate::llvm::{Block, Place, Value, opcode};

/// From so many values and tests on.
const FEWEST_VALUES: usize = 4;
const FEWEST_TESTS: usize = 3;

/// The instructions of a test, with the branch.
const MOST_INSTRUCTIONS: usize = 4;

/// What a test may compute besides comparisons.
const EXTREMES: [&str; 4] = ["llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax."];

/// Does so in a function; whether there was something.
pub(super) fn join(function: Value<'_>) -> bool {
    let dominators = Dominators::of(function);
    let mut is_changed = false;
    for &end in dominators.order() {
        if end.phis().len() >= FEWEST_VALUES
            && let Some(tests) = tests(end, &dominators)
        {
            choose(function, end, &tests);
            is_changed = true;
        }
    }
    is_changed
}

/// A block that leads to the end of a search, and whether its condition holds there; none of the last one.
struct Test<'c> {
    block: Block<'c>,
    condition: Option<(Value<'c>, bool)>,
}

/// The tests that lead to a block, one after the other, and what follows the last one.
fn tests<'c>(end: Block<'c>, dominators: &Dominators<'c>) -> Option<Vec<Test<'c>>> {
    let mut before = dominators.before(end).into_iter();
    let last = before.find(|block| block.successors()[..] == [end] && is_cheap(*block))?;
    let mut tests = vec![Test {
        block: last,
        condition: None,
    }];
    let mut behind = last;
    while let [block] = dominators.before(behind)[..] {
        let holds = match block.successors()[..] {
            [yes, no] if yes == end && no == behind => true,
            [yes, no] if yes == behind && no == end => false,
            _ => break,
        };
        let condition = block.terminator()?.operand(0)?;
        tests.push(Test {
            block,
            condition: Some((condition, holds)),
        });
        if !is_cheap(block) {
            break;
        }
        behind = block;
    }
    tests.reverse();
    (FEWEST_TESTS + 1..=MOST_WAYS + 1)
        .contains(&tests.len())
        .then_some(tests)
}

/// Whether a block may be gone through where it was not.
fn is_cheap(block: Block<'_>) -> bool {
    let instructions = block.instructions();
    let is_cheap = |one: &Value<'_>| {
        matches!(one.opcode(), opcode::ICMP | opcode::SELECT)
            || one.is_terminator()
            || one.is_call_of(&EXTREMES)
    };
    instructions.len() <= MOST_INSTRUCTIONS && instructions.iter().all(is_cheap)
}

fn choose<'c>(function: Value<'c>, end: Block<'c>, tests: &[Test<'c>]) -> Option<()> {
    let [first, others @ ..] = tests else {
        return None;
    };
    let branch = first.block.terminator()?;
    let place = Place::before(branch);
    let truth = place.constant(1, 1);
    for other in others {
        let mut instructions = other.block.instructions();
        instructions.retain(|one| !one.is_terminator());
        instructions.iter().for_each(|one| one.move_before(branch));
    }
    // Whether the search has ended by then. What a later test compares may be poison where an earlier one has ended it.
    let mut ended: Vec<Value<'c>> = Vec::new();
    for (condition, holds) in tests.iter().filter_map(|test| test.condition) {
        let ends = match holds {
            true => condition,
            false => place.binary(opcode::XOR, condition, truth),
        };
        let now = match ended.last() {
            Some(before) => place.select(*before, truth, ends),
            None => ends,
        };
        ended.push(now);
    }
    let found = function.append_block();
    let mut others_of_phis = Vec::new();
    for phi in end.phis() {
        let of = |test: &Test<'c>| phi.incoming_from(test.block);
        let values: Vec<Value<'c>> = tests.iter().filter_map(of).collect();
        let (none, ends) = values.split_last()?;
        let (&last, earlier) = ends.split_last()?;
        let (mut value, mut behind) = (last, last);
        for (&earlier, ended) in earlier.iter().zip(&ended).rev() {
            if earlier != behind {
                value = found.push_select(*ended, earlier, value);
                behind = earlier;
            }
        }
        others_of_phis.push(*none);
        phi.add_incoming(value, found);
    }
    found.push_jump(end);
    for test in tests {
        end.replace_incoming(test.block, &[]);
    }
    for (phi, none) in end.phis().into_iter().zip(others_of_phis) {
        phi.add_incoming(none, first.block);
    }
    branch.erase();
    first.block.push_branch(*ended.last()?, found, end);
    for other in others {
        other.block.terminator()?.erase();
        other.block.push_unreachable();
    }
    Some(())
}
