//! Floating-point numbers that become indices below a bound of 32 bits: `x as usize`, where what follows is done below `u32` extents only.
//!
//! A GPU converts from and to 64 bits in four times the time. The conversion saturates, so what is too great for 32 bits becomes their highest
//! number there, and is not below a bound of 32 bits either: `i < bound` is the same of both. Where `i` is known to be below such a bound
//! both conversions are equal. So the short one does if each use is one of these, or computes something that is used only there.

use super::bounds::{self, MOST_OF_32};
use super::dominators::Dominators;
use crate::llvm::{Block, Module, Place, Value, ValueKind, opcode, predicate};

/// How many operations may lie between a conversion and where its result is known to be small.
const DEPTH: u32 = 6;

/// Whether an instruction is a saturating conversion to unsigned numbers of 64 bits.
pub(super) fn is_wide(instruction: Value<'_>) -> bool {
    instruction.is_call_of(&["llvm.fptoui.sat.i64.f"])
}

/// Shortens the conversions of a function that allow it; whether there were any.
pub(super) fn run<'c>(
    module: &Module<'c>,
    function: Value<'c>,
    dominators: &Dominators<'c>,
) -> bool {
    let mut is_changed = false;
    for index in function.instructions().into_iter().filter(|i| is_wide(*i)) {
        let uses = Uses { index, dominators };
        // Somewhere it has to be small, or else it is computed for its saturation alone.
        if !dominators.is_reachable(index.block()) || !uses.allow_short(index, DEPTH) {
            continue;
        }
        let (Some(callee), Some(number)) = (index.callee(), index.operand(0)) else {
            continue;
        };
        let place = Place::before(index);
        let name = callee.name().replace(".i64.", ".i32.");
        let result = place.constant(32, 0).ty();
        let short = module.declaration(&name, result, &[number.ty()]);
        let short = index.build_call_before(short, &[number]);
        index.replace_by(place.resized(short, 64));
        is_changed = true;
    }
    is_changed
}

struct Uses<'d, 'c> {
    index: Value<'c>,
    dominators: &'d Dominators<'c>,
}

impl<'c> Uses<'_, 'c> {
    /// Whether no use of `value`, which is computed from the index, shows whether the index was too great for 32 bits.
    fn allow_short(&self, value: Value<'c>, depth: u32) -> bool {
        value.users().into_iter().all(|user| {
            if user.kind() != ValueKind::Instruction {
                return false;
            }
            if user.opcode() == opcode::PHI {
                let incoming = user.incoming().into_iter();
                let mut from = incoming.filter(|(incoming, _)| *incoming == value);
                return from.all(|(_, block)| self.is_small_in(block));
            }
            self.is_small_in(user.block())
                || (value == self.index && self.is_comparison(user))
                || depth
                    .checked_sub(1)
                    .is_some_and(|depth| is_plain(user) && self.allow_short(user, depth))
        })
    }

    fn is_small_in(&self, block: Block<'c>) -> bool {
        let most = bounds::most_at(self.index, block, self.dominators);
        self.dominators.is_reachable(block) && most.is_some_and(|most| most <= MOST_OF_32)
    }

    /// Whether it says whether the index is below a number of 32 bits.
    fn is_comparison(&self, user: Value<'c>) -> bool {
        let operands = (user.opcode() == opcode::ICMP)
            .then(|| Some((user.operand(0)?, user.operand(1)?)))
            .flatten();
        let Some((left, right)) = operands else {
            return false;
        };
        let bound = match user.predicate() {
            predicate::LESS | predicate::GREATER_OR_EQUAL if left == self.index => right,
            predicate::GREATER | predicate::LESS_OR_EQUAL if right == self.index => left,
            _ => return false,
        };
        let most = bounds::most_at(bound, user.block(), self.dominators);
        bound != self.index
            && self.dominators.is_reachable(user.block())
            && most.is_some_and(|most| most <= MOST_OF_32)
    }
}

/// Whether an instruction only computes a value, whatever its operands are.
fn is_plain(instruction: Value<'_>) -> bool {
    const PLAIN: [i32; 12] = [
        opcode::ADD,
        opcode::SUB,
        opcode::MUL,
        opcode::SHL,
        opcode::AND,
        opcode::TRUNC,
        opcode::UI_TO_FP,
        opcode::FADD,
        opcode::FSUB,
        opcode::FMUL,
        opcode::ICMP,
        opcode::GET_ELEMENT_POINTER,
    ];
    PLAIN.contains(&instruction.opcode()) || instruction.is_call_of(&["llvm.umin.", "llvm.umax."])
}
