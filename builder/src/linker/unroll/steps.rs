//! The test by which a loop goes on, and by how much each round changes what it compares.

use std::collections::HashMap;

use super::step::Step;
use crate::linker::loops::{Loop, is_inside};
use crate::llvm::{Module, Value, ValueKind, opcode, predicate};

/// The property of a loop that is not to be unrolled.
pub(in crate::linker) const NOT_TO_UNROLL: &str = "llvm.loop.unroll.disable";

/// The loop goes on while `less < more`, or while `less != more`, of unsigned numbers, where each round brings the two nearer by a step.
pub(super) struct Test<'c> {
    pub less: Value<'c>,
    pub more: Value<'c>,
    /// The comparison itself.
    pub comparison: Value<'c>,
    /// Which successor of the latch is the loop's first block.
    pub again: u32,
    pub step: Step<'c>,
    pub until: Until,
    pub bits: u32,
    /// What rises by the step in each round, if the varying side of the comparison is computed from such a value.
    pub companion: Option<Value<'c>>,
}

/// When the loop ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// As soon as `less` is not below `more`.
    Past,
    /// When both are equal.
    Equal,
}

impl<'c> Test<'c> {
    /// The test of a loop, if it is one of these.
    pub(super) fn of(module: &Module<'c>, found: &Loop<'c>) -> Option<Test<'c>> {
        let branch = found.latch.terminator()?;
        let mut properties = branch.loop_properties().into_iter();
        // Which LLVM notes of what it has unrolled, too, and of the rest of that.
        if branch.opcode() != opcode::BRANCH || properties.any(|name| name == NOT_TO_UNROLL) {
            return None;
        }
        let again = branch
            .successors()
            .iter()
            .position(|to| *to == found.header)?;
        let comparison = branch.operand(0)?;
        let mut changes = Changes::of_loop(module, found);
        if !changes.is_inside(comparison) || comparison.opcode() != opcode::ICMP {
            return None;
        }
        let (left, right) = (comparison.operand(0)?, comparison.operand(1)?);
        let (less, more, until) = match (comparison.predicate(), again) {
            (predicate::LESS, 0) | (predicate::GREATER_OR_EQUAL, 1) => (left, right, Until::Past),
            (predicate::GREATER, 0) | (predicate::LESS_OR_EQUAL, 1) => (right, left, Until::Past),
            (predicate::LESS_OR_EQUAL, 0) | (predicate::GREATER, 1) => {
                let (less, more) = as_less(left, right)?;
                (less, more, Until::Past)
            }
            (predicate::GREATER_OR_EQUAL, 0) | (predicate::LESS, 1) => {
                let (less, more) = as_less(right, left)?;
                (less, more, Until::Past)
            }
            (predicate::NOT_EQUAL, 0) | (predicate::EQUAL, 1) => {
                // Whichever way round they come nearer.
                let other_changes = !changes.is_inside(left);
                let varying = if other_changes { right } else { left };
                let rises = changes.of(varying)?.may_lead_on();
                match other_changes == rises {
                    true => (right, left, Until::Equal),
                    false => (left, right, Until::Equal),
                }
            }
            _ => return None,
        };
        let bits = if less.is_pointer() {
            64
        } else {
            less.integer_bits()?
        };
        // One of them alone: then neither goes past the ends of the type while the other is between.
        let step = if !changes.is_inside(more) {
            changes.of(less)?
        } else if !changes.is_inside(less) {
            changes.of(more)?.times(-1)?
        } else {
            return None;
        };
        let is_of_type = step
            .value
            .is_none_or(|(value, _)| value.integer_bits() == Some(bits));
        let is_known = step.may_lead_on() && is_of_type && matches!(bits, 32 | 64);
        is_known.then(|| Test {
            companion: changes.companion((less, more), step, bits),
            less,
            more,
            comparison,
            again: again as u32,
            step,
            until,
            bits,
        })
    }
}

/// The numbers of which the first one is less than the second one where the first one of these is at most the second one, if one of them is a constant: the
/// constant is another one then.
fn as_less<'c>(at_most: Value<'c>, least: Value<'c>) -> Option<(Value<'c>, Value<'c>)> {
    let bits = least.integer_bits().filter(|bits| *bits <= 64)?;
    let constant = |number| Value::integer_like(number, least);
    match (at_most.as_integer(), least.as_integer()) {
        (Some(number), _) => Some((constant(number.checked_sub(1)?), least)),
        (_, Some(number)) if number < u64::MAX >> (64 - bits) => {
            Some((at_most, constant(number + 1)))
        }
        _ => None,
    }
}

/// By how much values change from one round to the next.
pub(super) struct Changes<'m, 'c> {
    module: &'m Module<'c>,
    found: &'m Loop<'c>,
    known: HashMap<Value<'c>, Option<Step<'c>>>,
}

impl<'m, 'c> Changes<'m, 'c> {
    pub(super) fn of_loop(module: &'m Module<'c>, found: &'m Loop<'c>) -> Changes<'m, 'c> {
        Changes {
            module,
            found,
            known: HashMap::new(),
        }
    }

    fn is_inside(&self, value: Value<'c>) -> bool {
        is_inside(self.found, value)
    }

    /// The change of a value, if it is the same in all rounds.
    pub(super) fn of(&mut self, value: Value<'c>) -> Option<Step<'c>> {
        if !self.is_inside(value) {
            return Some(Step::ZERO);
        }
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        // Of what depends on itself other than through the first block's phis nothing is known.
        self.known.insert(value, None);
        let step = self.of_instruction(value);
        self.known.insert(value, step);
        step
    }

    fn of_instruction(&mut self, value: Value<'c>) -> Option<Step<'c>> {
        let operand = |n| value.operand(n);
        match value.opcode() {
            opcode::PHI if value.block() == self.found.header => {
                let next = value.incoming_from(self.found.latch)?;
                self.offset(next, value)
            }
            opcode::ADD => {
                let other = self.of(operand(1)?)?;
                self.of(operand(0)?)?.plus(other)
            }
            opcode::SUB => {
                let other = self.of(operand(1)?)?.times(-1)?;
                self.of(operand(0)?)?.plus(other)
            }
            opcode::MUL => {
                let factor = small(operand(1)?)?;
                self.of(operand(0)?)?.times(factor)
            }
            opcode::SHL => {
                let factor = power(operand(1)?)?;
                self.of(operand(0)?)?.times(factor)
            }
            opcode::LSHR if value.is_exact() => {
                let divisor = power(operand(1)?)?;
                self.of(operand(0)?)?.divided_by(divisor)
            }
            opcode::GET_ELEMENT_POINTER => {
                let index = self.of(index_of(value)?)?;
                let index = index.times(self.element_size(value)?)?;
                self.of(operand(0)?)?.plus(index)
            }
            // The wider number changes as the narrower one, which never begins anew.
            opcode::ZEXT if self.never_wraps(operand(0)?) => self.of(operand(0)?),
            opcode::PTR_TO_INT | opcode::ADDRESS_SPACE_CAST | opcode::FREEZE => {
                self.of(operand(0)?)
            }
            _ => None,
        }
    }

    /// A phi of the first block that rises by this step, or its next value: what the varying side of a comparison is computed from. The side is
    /// poison wherever that is. `None` if it is a side itself.
    fn companion(
        &mut self,
        (less, more): (Value<'c>, Value<'c>),
        step: Step<'c>,
        bits: u32,
    ) -> Option<Value<'c>> {
        let mut open = vec![less, more];
        let mut found = None;
        while let Some(value) = open.pop() {
            let is_rising = self.rises(value, step, bits);
            if is_rising && (value == less || value == more) {
                return None;
            }
            let is_arithmetic = self.is_inside(value)
                && !matches!(value.opcode(), opcode::PHI | opcode::FREEZE)
                && !is_rising;
            if is_arithmetic {
                open.extend((0..value.operand_count()).filter_map(|n| value.operand(n)));
            }
            found = found.or(is_rising.then_some(value));
        }
        found
    }

    /// Whether a value is such a phi, or its next value.
    fn rises(&self, value: Value<'c>, step: Step<'c>, bits: u32) -> bool {
        let is_as_wide = match value.is_pointer() {
            true => bits == 64,
            false => value.integer_bits() == Some(bits),
        };
        let mut phis = self.found.header.phis().into_iter();
        is_as_wide
            && phis.any(|phi| {
                let next = phi.incoming_from(self.found.latch);
                next.is_some_and(|next| {
                    (value == phi || value == next) && self.offset(next, phi) == Some(step)
                })
            })
    }

    /// Whether a number that is stepped by an addition stays in its type.
    fn never_wraps(&self, value: Value<'c>) -> bool {
        let is_phi = |value: Value<'c>| {
            value.kind() == ValueKind::Instruction
                && value.opcode() == opcode::PHI
                && value.block() == self.found.header
        };
        let sum = match is_phi(value) {
            true => value.incoming_from(self.found.latch),
            false => Some(value),
        };
        sum.is_some_and(|sum| {
            self.is_inside(sum)
                && sum.opcode() == opcode::ADD
                && sum.never_wraps()
                && sum.operand(0).is_some_and(is_phi)
        })
    }

    /// `value - from`, if it is the same in all rounds.
    fn offset(&self, value: Value<'c>, from: Value<'c>) -> Option<Step<'c>> {
        if value == from {
            return Some(Step::ZERO);
        }
        if !self.is_inside(value) {
            return None;
        }
        match value.opcode() {
            opcode::ADD => {
                let added = self.invariant(value.operand(1)?)?;
                self.offset(value.operand(0)?, from)?.plus(added)
            }
            opcode::SUB => {
                let taken = self.invariant(value.operand(1)?)?.times(-1)?;
                self.offset(value.operand(0)?, from)?.plus(taken)
            }
            opcode::GET_ELEMENT_POINTER => {
                let index = self.invariant(index_of(value)?)?;
                let bytes = index.times(self.element_size(value)?)?;
                self.offset(value.operand(0)?, from)?.plus(bytes)
            }
            _ => None,
        }
    }

    /// A number that is the same in all rounds.
    fn invariant(&self, value: Value<'c>) -> Option<Step<'c>> {
        if let Some(number) = small(value) {
            return Some(Step::of_constant(number));
        }
        (!self.is_inside(value) && value.as_integer().is_none()).then_some(Step {
            value: Some((value, 1)),
            constant: 0,
        })
    }

    fn element_size(&self, pointer: Value<'c>) -> Option<i64> {
        let size = self.module.size_of(pointer.element_type());
        i64::try_from(size).ok().filter(|size| *size > 0)
    }
}

/// The only index of a `getelementptr`.
fn index_of(pointer: Value<'_>) -> Option<Value<'_>> {
    (pointer.operand_count() == 2).then(|| pointer.operand(1))?
}

/// A constant of at most 31 bits, of either sign.
fn small(value: Value<'_>) -> Option<i64> {
    let bits = value.integer_bits().filter(|bits| *bits <= 64)?;
    let number = value.as_integer()?;
    let signed = (number << (64 - bits)) as i64 >> (64 - bits);
    (signed.unsigned_abs() < 1 << 31).then_some(signed)
}

/// Two to the power of a constant.
fn power(exponent: Value<'_>) -> Option<i64> {
    let exponent = exponent.as_integer().filter(|exponent| *exponent < 20)?;
    Some(1 << exponent)
}

/// Puts what a value is in the first round at the end of the block before the loop. The value's change is known, so nothing but arithmetic
/// leads from the first block's phis to it.
pub(super) fn in_first_round<'c>(found: &Loop<'c>, value: Value<'c>) -> Option<Value<'c>> {
    if !is_inside(found, value) {
        return Some(value);
    }
    if value.opcode() == opcode::PHI {
        return value.incoming_from(found.before);
    }
    let operands = (0..value.operand_count())
        .map(|n| in_first_round(found, value.operand(n)?))
        .collect::<Option<Vec<_>>>()?;
    let copy = found.before.push_copy(value);
    for (n, operand) in (0..).zip(operands) {
        copy.set_operand(n, operand);
    }
    Some(copy)
}
