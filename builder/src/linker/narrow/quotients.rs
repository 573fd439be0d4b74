//! Divisions of 32 bits, of which it is known that the divisor is not 0.
//!
//! `div.u32` of PTX gives all ones for a divisor of 0, for which ptxas adds two instructions to each division. In Rust a division by 0 is a panic, which is tested
//! before. So the division is spelt out, as ptxas does it: the divisor's reciprocal, from an approximation that is never too great; the quotient by it, which is
//! too small by two at most; and what that leaves of the number tells by how much. Several divisions by one number have the reciprocal in common.

use crate::llvm::{Place, Value, opcode};

/// 2^32 divided by `$1`, rounded down or one less. The exponent of a floating-point number is 32 greater, and the fraction two units less, by an addition.
const RECIPROCAL: &str = "{ .reg .f32 %x; .reg .b32 %y, %z; cvt.rp.f32.u32 %x, $1; rcp.approx.ftz.f32 %x, %x; mov.b32 %y, %x; \
    add.u32 %y, %y, 0x0ffffffe; mov.b32 %x, %y; cvt.rzi.ftz.u32.f32 %y, %x; neg.s32 %z, %y; mul.lo.u32 %z, %z, $1; \
    mad.hi.u32 $0, %y, %z, %y; }";

/// `$1 / $2` by the reciprocal `$3`.
const QUOTIENT: &str = "{ .reg .pred %p; .reg .b32 %y, %z; mul.hi.u32 %y, $3, $1; neg.s32 %z, %y; mad.lo.u32 %z, $2, %z, $1; \
    setp.ge.u32 %p, %z, $2; @%p sub.u32 %z, %z, $2; @%p add.u32 %y, %y, 1; setp.ge.u32 %p, %z, $2; @%p add.u32 %y, %y, 1; \
    mov.b32 $0, %y; }";

/// `$1 % $2` by the reciprocal `$3`.
const REMAINDER: &str = "{ .reg .pred %p; .reg .b32 %z; mul.hi.u32 %z, $3, $1; neg.s32 %z, %z; mad.lo.u32 %z, $2, %z, $1; \
    setp.ge.u32 %p, %z, $2; @%p sub.u32 %z, %z, $2; setp.ge.u32 %p, %z, $2; @%p sub.u32 %z, %z, $2; mov.b32 $0, %z; }";

/// Whether an operation is such a division, by a number of run time.
pub(super) fn is_division(operation: Value<'_>) -> bool {
    operation.is_unsigned_division()
        && operation.operand(0).and_then(Value::integer_bits) == Some(32)
        && operation.operand(1).and_then(Value::as_integer).is_none()
}

/// Spells out the divisions of a function.
pub(super) fn run(function: Value<'_>) {
    // A thread that panics needs no speed.
    let blocks = function.blocks().into_iter();
    for block in blocks.filter(|block| !block.is_dead_end()) {
        let divisions = block.instructions().into_iter().filter(|i| is_division(*i));
        for division in divisions {
            let place = Place::before(division);
            if let (Some(number), Some(divisor)) = (division.operand(0), division.operand(1)) {
                division.replace_by(by_reciprocal(division, number, divisor, place));
            }
        }
    }
}

/// The result of a division of these, computed at a place. Nothing is executed that may not be executed in vain: a divisor of 0 gives some number.
pub(super) fn by_reciprocal<'c>(
    division: Value<'c>,
    number: Value<'c>,
    divisor: Value<'c>,
    place: Place<'c>,
) -> Value<'c> {
    let reciprocal = place.pure_assembly(RECIPROCAL, "=r,r", division.ty(), &[divisor]);
    let text = match division.opcode() {
        opcode::UDIV => QUOTIENT,
        _ => REMAINDER,
    };
    let operands = [number, divisor, reciprocal];
    place.pure_assembly(text, "=r,r,r,r", division.ty(), &operands)
}
