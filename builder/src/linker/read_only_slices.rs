//! Slices that are parameters of a kernel and that nothing writes while it runs, and addresses of their elements.

use super::branch_values::most_length;
use super::narrow::products;
use super::offsets::whole;
use crate::llvm::{Attribute, Module, Value, opcode};

/// The size of the largest elements whose size is known from how many of them memory may hold.
const MOST_SIZE: u64 = 1 << 30;

/// A slice that is a parameter of the kernel, and that nothing writes while it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice<'c> {
    /// Its address.
    pub pointer: Value<'c>,
    /// How many elements it has.
    pub length: Value<'c>,
    /// The size of one, in bytes.
    pub size: u64,
}

impl<'c> Slice<'c> {
    /// The slice that begins at this address.
    pub(super) fn at(pointer: Value<'c>) -> Option<Slice<'c>> {
        let (function, number) = without_casts(pointer).as_parameter()?;
        let at = Attribute::Parameter(number);
        if !function.has_flag(at, "noalias") || !function.has_flag(at, "readonly") {
            return None;
        }
        // As the kernel's record says, which only unsafe code makes by hand.
        let most = most_length(function, number + 1).filter(|most| *most > 0)?;
        // Of greater elements the quotient may be another one.
        let size = i64::MAX as u64 / most;
        (size <= MOST_SIZE).then_some(Slice {
            pointer,
            length: function.parameter(number + 1)?,
            size,
        })
    }
}

/// A part of an element.
#[derive(Clone, Copy)]
pub(super) struct Part<'c> {
    pub slice: Slice<'c>,
    /// The address of the element.
    pub element: Value<'c>,
    /// The number of the element.
    pub index: Value<'c>,
    /// What the element's address is computed from: the index, extended or multiplied.
    pub number: Value<'c>,
}

impl<'c> Part<'c> {
    /// What a plain load loads.
    pub fn of_load(module: &Module<'c>, load: Value<'c>) -> Option<Part<'c>> {
        let is_plain = load.opcode() == opcode::LOAD && !load.is_volatile() && !load.is_atomic();
        let address = is_plain.then(|| load.operand(0))??;
        let part = Part::at(module, address, module.size_of(load.ty()))?;
        // Of another width it would be extended by its sign.
        (part.number.integer_bits() == Some(64)).then_some(part)
    }

    /// The part of an element that the `size` bytes at `address` are, if they are one.
    pub(super) fn at(module: &Module<'c>, address: Value<'c>, size: u64) -> Option<Part<'c>> {
        let (element, offset) = whole(module, address);
        if !element.is_instruction() || element.opcode() != opcode::GET_ELEMENT_POINTER {
            return None;
        }
        let [base, number] = [element.operand(0)?, element.operand(1)?];
        let slice = Slice::at(base)?;
        let (index, unit) = match element.operand_count() {
            2 => index_of(number, module.size_of(element.element_type()))?,
            _ => return None,
        };
        let is_part = unit == slice.size && offset.checked_add(size)? <= slice.size;
        is_part.then_some(Part {
            slice,
            element,
            index,
            number,
        })
    }
}

/// The number of 32 or 64 bits of which `number` units of this size are a multiple, and the size of that.
fn index_of<'c>(number: Value<'c>, unit: u64) -> Option<(Value<'c>, u64)> {
    let is = |opcode| number.is_instruction() && number.opcode() == opcode;
    let by_constant = || Some((number.operand(0)?, number.operand(1)?.as_integer()?));
    if products::is_unsigned_wide(number) {
        let (index, factor) = by_constant()?;
        return Some((index, unit.checked_mul(factor)?));
    }
    if is(opcode::SHL) && number.never_wraps() {
        let (index, bits) = by_constant()?;
        let factor = 1_u64.checked_shl(u32::try_from(bits).ok()?)?;
        return Some((index, unit.checked_mul(factor)?));
    }
    if is(opcode::MUL) && number.never_wraps() {
        let (index, factor) = by_constant()?;
        return Some((index, unit.checked_mul(factor)?));
    }
    match number.extended().filter(|_| is(opcode::ZEXT)) {
        Some(index) => Some((index, unit)),
        None => Some((number, unit)),
    }
}

/// Whether a value is an address, or a number that is part of one, that only computes from its operands.
pub(super) fn is_part_of_address(value: Value<'_>) -> bool {
    value.is_instruction()
        && [
            opcode::GET_ELEMENT_POINTER,
            opcode::ADDRESS_SPACE_CAST,
            opcode::ZEXT,
            opcode::MUL,
            opcode::SHL,
        ]
        .contains(&value.opcode())
}

/// An address, or a number that is part of one, computed anew before an instruction from what is `known` there.
pub(super) fn computed_before<'c>(
    end: Value<'c>,
    value: Value<'c>,
    known: &dyn Fn(Value<'c>) -> Option<Value<'c>>,
) -> Value<'c> {
    if let Some(known) = known(value) {
        return known;
    }
    let operands: Vec<_> = (0..value.operand_count())
        .filter_map(|n| value.operand(n))
        .map(|operand| computed_before(end, operand, known))
        .collect();
    let copy = end.build_copy_before(value);
    for (n, operand) in (0..).zip(operands) {
        copy.set_operand(n, operand);
    }
    copy
}

/// What a pointer was before it was said to be one into global memory.
pub(super) fn without_casts(pointer: Value<'_>) -> Value<'_> {
    let is_cast = pointer.is_instruction() && pointer.opcode() == opcode::ADDRESS_SPACE_CAST;
    match is_cast.then(|| pointer.operand(0)).flatten() {
        Some(inner) => without_casts(inner),
        None => pointer,
    }
}
