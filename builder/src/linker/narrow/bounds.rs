//! The highest unsigned number that a value can be, by its own arithmetic and by the comparisons on the way to a block.

use super::dominators::Dominators;
use crate::llvm::{Block, Value, ValueKind, opcode, predicate};

/// How many operations are looked through.
const DEPTH: u32 = 8;

/// How many dominators are asked what is known on the way from them.
const BLOCKS: u32 = 32;

/// The highest number of 32 bits.
pub(super) const MOST_OF_32: u64 = u32::MAX as u64;

/// The most that a value is wherever it is computed; `None` if it is no integer of at most 64 bits.
pub(super) fn most(value: Value<'_>) -> Option<u64> {
    most_of(value, DEPTH)
}

/// The most that a value is where a block is reached.
pub(super) fn most_at<'c>(
    value: Value<'c>,
    block: Block<'c>,
    dominators: &Dominators<'c>,
) -> Option<u64> {
    let mut best = most(value)?;
    let mut at = block;
    for _ in 0..BLOCKS {
        let Some(above) = dominators.above(at) else {
            break;
        };
        // Nothing else leads here, so the branch was taken this way. The nearest dominator is then the block before.
        if dominators.only_before(at) == Some(above) {
            let branch = above.terminator();
            let branch = branch.filter(|i| i.opcode() == opcode::BRANCH);
            if let Some((condition, [yes, _])) = branch.and_then(condition_of)
                && let Some(most) = most_if(condition, yes == at, value, DEPTH)
            {
                best = best.min(most);
            }
        }
        at = above;
    }
    Some(best)
}

/// The condition of a branch and where it leads to.
fn condition_of<'c>(branch: Value<'c>) -> Option<(Value<'c>, [Block<'c>; 2])> {
    let [yes, no] = branch.successors()[..] else {
        return None;
    };
    Some((branch.operand(0)?, [yes, no]))
}

/// The most that `value` is where `condition` is `holds`; `None` if it says nothing.
fn most_if<'c>(condition: Value<'c>, holds: bool, value: Value<'c>, depth: u32) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    if condition.kind() != ValueKind::Instruction {
        return None;
    }
    let operand = |n| condition.operand(n);
    let both = |a: Option<Value<'c>>, b: Option<Value<'c>>| {
        let parts = [a?, b?].into_iter();
        let parts = parts.filter_map(|part| most_if(part, holds, value, depth));
        parts.min()
    };
    match condition.opcode() {
        opcode::AND if holds => both(operand(0), operand(1)),
        opcode::OR if !holds => both(operand(0), operand(1)),
        // `a && b` and `a || b` without the computation of `b`.
        opcode::SELECT if holds && operand(2)?.as_integer() == Some(0) => {
            both(operand(0), operand(1))
        }
        opcode::SELECT if !holds && operand(1)?.as_integer() == Some(1) => {
            both(operand(0), operand(2))
        }
        opcode::ICMP => {
            let (left, right) = (operand(0)?, operand(1)?);
            let is_below = |other: Value<'c>| most(other)?.checked_sub(1);
            match (condition.predicate(), holds) {
                (predicate::LESS, true) | (predicate::GREATER_OR_EQUAL, false) if left == value => {
                    is_below(right)
                }
                (predicate::LESS_OR_EQUAL, true) | (predicate::GREATER, false) if left == value => {
                    most(right)
                }
                (predicate::GREATER, true) | (predicate::LESS_OR_EQUAL, false)
                    if right == value =>
                {
                    is_below(left)
                }
                (predicate::GREATER_OR_EQUAL, true) | (predicate::LESS, false)
                    if right == value =>
                {
                    most(left)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn most_of(value: Value<'_>, depth: u32) -> Option<u64> {
    let bits = value.integer_bits().filter(|bits| *bits <= 64)?;
    if value.is_pointer() {
        return None;
    }
    if let Some(number) = value.as_integer() {
        return Some(number);
    }
    let highest = u64::MAX >> (64 - bits);
    if value.kind() != ValueKind::Instruction {
        return Some(highest);
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Some(highest);
    };
    Some(of_instruction(value, depth).map_or(highest, |most| most.min(highest)))
}

/// What the operation says, if it does not wrap around whatever its operands are. A result that wraps is below it if it may not.
fn of_instruction(value: Value<'_>, depth: u32) -> Option<u64> {
    let operand = |n| most_of(value.operand(n)?, depth);
    match value.opcode() {
        opcode::ZEXT => {
            let narrow = operand(0)?;
            let bits = value.operand(0)?.integer_bits()?;
            // What is negative all the same is poison.
            let half = u64::MAX >> (65 - bits).min(63);
            Some(match value.is_of_non_negative() {
                true if bits > 1 => narrow.min(half),
                _ => narrow,
            })
        }
        // At most that, as bits are only lost.
        opcode::TRUNC => operand(0),
        opcode::ADD => {
            let sum = operand(0)?.checked_add(operand(1)?)?;
            fits(value, sum)
        }
        opcode::MUL => {
            let product = operand(0)?.checked_mul(operand(1)?)?;
            fits(value, product)
        }
        opcode::SHL => {
            let places = value.operand(1)?.as_integer().filter(|n| *n < 64)?;
            let shifted = operand(0)?.checked_mul(1 << places)?;
            fits(value, shifted)
        }
        opcode::LSHR => {
            let places = value.operand(1)?.as_integer().filter(|n| *n < 64)?;
            Some(operand(0)? >> places)
        }
        opcode::AND => Some(operand(0)?.min(operand(1)?)),
        opcode::OR => {
            let ones = operand(0)? | operand(1)?;
            Some(u64::MAX.checked_shr(ones.leading_zeros()).unwrap_or(0))
        }
        opcode::UDIV => {
            let divisor = value.operand(1)?.as_integer().filter(|n| *n > 0);
            Some(operand(0)? / divisor.unwrap_or(1))
        }
        // Below the divisor, which is not zero.
        opcode::UREM => Some(operand(0)?.min(operand(1)?.saturating_sub(1))),
        opcode::SELECT => Some(most_of(value.operand(1)?, depth)?.max(operand(2)?)),
        opcode::PHI => {
            let incoming = value.incoming().into_iter();
            incoming
                .map(|(incoming, _)| most_of(incoming, depth.min(2)))
                .try_fold(0, |most, incoming| Some(incoming?.max(most)))
        }
        opcode::CALL => {
            let name = value.callee()?.name();
            if name.starts_with("llvm.umin.") {
                Some(operand(0)?.min(operand(1)?))
            } else if name.starts_with("llvm.umax.") {
                Some(operand(0)?.max(operand(1)?))
            } else {
                None
            }
        }
        // Not of `freeze`: it is any number where its operand is poison, and a bound may say nothing of that.
        _ => None,
    }
}

/// The most, if it is a number of the value's type: else the operation may wrap around.
fn fits(value: Value<'_>, most: u64) -> Option<u64> {
    let bits = value.integer_bits()?;
    (most <= u64::MAX >> (64 - bits)).then_some(most)
}
