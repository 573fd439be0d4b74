//! Two rounded halves that are put side by side are named as a pair of registers.
//!
//! ```text
//! cvt.rn.f16.f32 a, x                      cvt.rn.f16.f32 a, x
//! cvt.rn.f16.f32 b, y                      cvt.rn.f16.f32 b, y
//! cvt.u32.u16 c, a; cvt.u32.u16 d, b       mov.b32 e, {a, b}
//! shl.b32 d, d, 16; or.b32 e, c, d
//! ```
//!
//! The machine rounds two numbers by one instruction, which ptxas takes for a pair. Where the halves are made integers of 32 bits first it takes, for each
//! of them, one that is many times slower, and puts them together by a third.

use crate::llvm::{Module, Place, Value, ValueKind, opcode};

/// Rewrites all such pairs.
pub(super) fn pair(module: &Module<'_>) {
    for function in module.functions() {
        for whole in function.instructions() {
            if let Some([low, high]) = halves(whole) {
                let place = Place::before(whole);
                let pair = place.pure_assembly(
                    "mov.b32 $0, {$1, $2};",
                    "=r,h,h",
                    whole.ty(),
                    &[low, high],
                );
                whole.replace_by(pair);
            }
        }
    }
}

/// The lower and the upper half of a number of 32 bits, if they were rounded to halves.
fn halves(whole: Value<'_>) -> Option<[Value<'_>; 2]> {
    if whole.opcode() != opcode::OR || whole.integer_bits() != Some(32) {
        return None;
    }
    let operands = [whole.operand(0)?, whole.operand(1)?];
    let [one, other] = operands.map(shifted);
    let (low, high) = match (one, other) {
        (Some(high), None) => (operands[1], high),
        (None, Some(high)) => (operands[0], high),
        _ => return None,
    };
    let halves = [half(low)?, half(high)?];
    halves.into_iter().all(is_rounded).then_some(halves)
}

/// What is shifted to the upper half.
fn shifted(value: Value<'_>) -> Option<Value<'_>> {
    let shift = only_if(value, opcode::SHL)?;
    (shift.operand(1)?.as_integer() == Some(16)).then(|| shift.operand(0))?
}

/// The number of 16 bits that a value is the extension of.
fn half(value: Value<'_>) -> Option<Value<'_>> {
    let inner = only_if(value, opcode::ZEXT)?.operand(0)?;
    (inner.integer_bits() == Some(16)).then_some(inner)
}

/// Whether bits are those of a number that was rounded.
fn is_rounded(half: Value<'_>) -> bool {
    let bits = only_if(half, opcode::BIT_CAST).and_then(|bits| bits.operand(0));
    let number = bits.unwrap_or(half);
    let is_assembly = || {
        let assembly = number.called_assembly();
        assembly.is_some_and(|assembly| assembly.asm_text().contains("cvt.rn."))
    };
    number.kind() == ValueKind::Instruction
        && (number.opcode() == opcode::FP_TRUNC || is_assembly())
}

/// A value, if it is an instruction of this sort: others have no operands.
fn only_if(value: Value<'_>, opcode: i32) -> Option<Value<'_>> {
    let is_one = value.kind() == ValueKind::Instruction && value.opcode() == opcode;
    is_one.then_some(value)
}
