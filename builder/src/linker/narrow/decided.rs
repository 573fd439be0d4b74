//! What the branches on the way to a block have decided.

use super::dominators::Dominators;
use crate::llvm::{Block, Value, opcode};

/// How many dominators are asked what is known on the way from them.
const BLOCKS: usize = 32;

/// How many parts a condition is taken apart into, one within the other.
const PARTS: u32 = 8;

/// The edges that were gone over on the way to a block, as nothing else leads where they lead: from the nearest on.
pub(in crate::linker) fn edges<'c>(
    block: Block<'c>,
    dominators: &Dominators<'c>,
) -> impl Iterator<Item = (Block<'c>, Block<'c>)> {
    let above = |at: &Block<'c>| dominators.above(*at);
    let ways = std::iter::successors(Some(block), above).take(BLOCKS);
    // The nearest dominator is then the block before.
    ways.filter_map(|at| Some((dominators.entered_from(at)?, at)))
        .filter(|(from, to)| dominators.above(*to) == Some(*from))
}

/// The condition of the branch at the end of `from`, and whether it holds on the way to `to`.
pub(in crate::linker) fn condition<'c>(
    from: Block<'c>,
    to: Block<'c>,
) -> Option<(Value<'c>, bool)> {
    let branch = from.terminator()?;
    let [yes, no] = branch.successors().try_into().ok()?;
    let decides = branch.opcode() == opcode::BRANCH && yes != no;
    decides.then(|| Some((branch.operand(0)?, yes == to)))?
}

/// The comparisons that are decided where a condition is `holds`, each with whether it holds.
pub(in crate::linker) fn comparisons(condition: Value<'_>, holds: bool) -> Vec<(Value<'_>, bool)> {
    let mut all = all_parts(condition, holds);
    all.retain(|(part, _)| part.is_instruction() && part.opcode() == opcode::ICMP);
    all
}

/// The conditions that are all as told where, and only where, a condition is `holds`: in the order in which they are asked.
pub(super) fn all_parts(condition: Value<'_>, holds: bool) -> Vec<(Value<'_>, bool)> {
    let mut all = Vec::new();
    collect(condition, holds, PARTS, &mut all);
    all
}

fn collect<'c>(condition: Value<'c>, holds: bool, depth: u32, all: &mut Vec<(Value<'c>, bool)>) {
    let Some(depth) = depth.checked_sub(1) else {
        return all.push((condition, holds));
    };
    if let Some(inverted) = inverted(condition) {
        collect(inverted, !holds, depth, all);
    } else if let Some(parts) = parts(condition, holds) {
        parts
            .into_iter()
            .for_each(|part| collect(part, holds, depth, all));
    } else {
        all.push((condition, holds));
    }
}

/// The condition that holds where this one does not, if it is made of one.
fn inverted(condition: Value<'_>) -> Option<Value<'_>> {
    let is_inverted = condition.is_instruction()
        && condition.opcode() == opcode::XOR
        && condition.operand(1)?.as_integer() == Some(1);
    is_inverted.then(|| condition.operand(0))?
}

/// The two parts of a condition that are both `holds` where the condition is.
fn parts(condition: Value<'_>, holds: bool) -> Option<[Value<'_>; 2]> {
    if !condition.is_instruction() {
        return None;
    }
    let is_constant = |n, number| {
        let constant = condition.operand(n).and_then(Value::as_integer);
        constant == Some(number)
    };
    let other = match condition.opcode() {
        opcode::AND if holds => 1,
        opcode::OR if !holds => 1,
        // `a && b` and `a || b` without the computation of `b`.
        opcode::SELECT if holds && is_constant(2, 0) => 1,
        opcode::SELECT if !holds && is_constant(1, 1) => 2,
        _ => return None,
    };
    Some([condition.operand(0)?, condition.operand(other)?])
}
