//! Where in a local array an access is: so many bytes behind an element whose number a variable is.

use super::evaluate::signed;
use crate::llvm::{Module, Value, ValueKind, opcode};

/// `stride * number + bytes` bytes behind an array's first one.
#[derive(Clone, Copy)]
pub(in crate::linker) struct Place<'c> {
    /// The number of the element, of at least 32 bits, and how far elements are apart.
    pub element: Option<(Value<'c>, i64)>,
    pub bytes: i64,
}

/// The narrowest numbers that are looked at: in these, a number that is near those of an array's elements, but is none of them, stands for no element.
const LEAST_BITS: u32 = 32;

/// No array that is looked at is larger, and nobody adds more than that.
const MOST_ADDED: i64 = 1 << 24;

impl<'c> Place<'c> {
    /// That of a pointer into the array of a slot.
    pub(in crate::linker) fn of(
        module: &Module<'c>,
        slot: Value<'c>,
        mut pointer: Value<'c>,
    ) -> Option<Place<'c>> {
        let mut place = Place {
            element: None,
            bytes: 0,
        };
        while pointer != slot {
            if pointer.kind() != ValueKind::Instruction {
                return None;
            }
            let is_sum = match pointer.opcode() {
                opcode::GET_ELEMENT_POINTER => pointer.operand_count() == 2,
                opcode::ADDRESS_SPACE_CAST => false,
                _ => return None,
            };
            if is_sum {
                let size = module.size_of(pointer.element_type());
                place.add(Sum::of(pointer.operand(1)?)?, size.try_into().ok()?)?;
            }
            pointer = pointer.operand(0)?;
        }
        Some(place)
    }

    fn add(&mut self, index: Sum<'c>, size: i64) -> Option<()> {
        let is_second = index.variable.is_some() && self.element.is_some();
        self.element = match index.variable {
            Some(_) if is_second => return None,
            Some(variable) => Some((variable, size)),
            None => self.element,
        };
        let bytes = index.added.checked_mul(size)?.checked_add(self.bytes)?;
        self.bytes = Some(bytes).filter(|bytes| bytes.abs() < MOST_ADDED)?;
        Some(())
    }
}

/// A number that is a variable one and a constant added to it.
#[derive(Clone, Copy)]
pub(in crate::linker) struct Sum<'c> {
    pub variable: Option<Value<'c>>,
    pub added: i64,
    /// Whether something on the way has another width.
    pub is_resized: bool,
}

impl<'c> Sum<'c> {
    /// The sum that a number is. Where something is resized that is below zero, the number may be another one, but none of an element.
    pub(in crate::linker) fn of(mut number: Value<'c>) -> Option<Sum<'c>> {
        let mut sum = Sum {
            variable: None,
            added: 0,
            is_resized: false,
        };
        loop {
            let bits = number.integer_bits()?;
            if !(LEAST_BITS..=64).contains(&bits) {
                return None;
            }
            if let Some(constant) = number.as_integer() {
                sum.added = sum.added.checked_add(signed(constant, bits))?;
                return Some(sum);
            }
            let operation = match number.kind() {
                ValueKind::Instruction => number.opcode(),
                _ => opcode::PHI,
            };
            let is_sum =
                operation == opcode::ADD || operation == opcode::OR && number.is_disjoint();
            let constant = is_sum.then(|| number.operand(1)?.as_integer()).flatten();
            match (operation, constant) {
                (_, Some(constant)) => {
                    sum.added = sum.added.checked_add(signed(constant, bits))?;
                    sum.added = Some(sum.added).filter(|added| added.abs() < MOST_ADDED)?;
                }
                (opcode::ZEXT | opcode::SEXT | opcode::TRUNC, _) => sum.is_resized = true,
                _ => {
                    sum.variable = Some(number);
                    return Some(sum);
                }
            }
            number = number.operand(0)?;
        }
    }
}
