//! Conditions that only tell panics apart are computed where that happens.
//!
//! A branch no longer asks for them, and the way that all threads go need not compute them. What they compare is held no longer for it than to the end of
//! the block, where the branch leads away. All that use a condition have it in common, as they are behind each other.

use rustc_hash::FxHashSet as HashSet;

use super::dominators::Dominators;
use crate::llvm::{Block, Value, opcode};

/// Moves conditions, and those that they are made of, if nothing uses them but on the way to panics.
pub(super) fn sink<'c>(
    mut open: Vec<Value<'c>>,
    dominators: &Dominators<'c>,
    cold: &HashSet<Block<'c>>,
) {
    while let Some(value) = open.pop() {
        if !is_condition(value) {
            continue;
        }
        let operands: Vec<_> = (0..value.operand_count())
            .filter_map(|n| value.operand(n))
            .collect();
        if value.is_unused() {
            value.erase();
        } else if let Some(first) = place(value, dominators, cold) {
            let copy = first.build_copy_before(value);
            value.replace_by(copy);
        } else {
            continue;
        }
        // It is no more.
        open.retain(|other| *other != value);
        open.extend(operands);
    }
}

fn is_condition(value: Value<'_>) -> bool {
    let is_boolean = value.is_instruction() && value.integer_bits() == Some(1);
    is_boolean
        && matches!(
            value.opcode(),
            opcode::ICMP | opcode::SELECT | opcode::AND | opcode::OR | opcode::XOR
        )
}

/// The instruction before which a condition is computed instead.
fn place<'c>(
    condition: Value<'c>,
    dominators: &Dominators<'c>,
    cold: &HashSet<Block<'c>>,
) -> Option<Value<'c>> {
    let users = condition.users();
    if users.iter().any(|user| user.opcode() == opcode::PHI) {
        return None;
    }
    let common = dominators.common(users.into_iter().map(Value::block))?;
    let mut instructions = common.instructions().into_iter();
    let first = instructions.find(|i| i.opcode() != opcode::PHI);
    first.filter(|_| cold.contains(&common) && !cold.contains(&condition.block()))
}
