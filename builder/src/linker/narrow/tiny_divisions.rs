//! Divisions of fewer than 32 bits.
//!
//! ```text
//! axis = urem i8 (xor (trunc n), 63), 3           axis = urem i32 (and (xor (trunc n), 63), 255), 3
//! ```
//!
//! LLVM narrows what ranges allow. A GPU has no arithmetic of 8 bits, and divides 16 in more instructions than 32: `div.u16` is a call with an approximation of its own. By
//! a constant it is a product, which needs its upper half cut off after each step. So what is divided is extended, with the operations that only it uses.

use crate::llvm::{Place, Value, opcode};

/// How many operations are extended for one operand.
const DEPTH: u32 = 4;

/// Whether an instruction is such a division or remainder.
pub(super) fn is_tiny(instruction: Value<'_>) -> bool {
    let is_signed = matches!(instruction.opcode(), opcode::SDIV | opcode::SREM);
    (is_signed || instruction.is_unsigned_division())
        && instruction.integer_bits().is_some_and(|bits| bits < 32)
}

/// Extends all divisions of a function.
pub(super) fn run(function: Value<'_>) {
    // All before the first is replaced: extensions of results are erased with it.
    let mut divisions = function.instructions();
    divisions.retain(|i| is_tiny(*i));
    divisions.into_iter().for_each(widen);
}

fn widen(division: Value<'_>) {
    let (Some(number), Some(divisor)) = (division.operand(0), division.operand(1)) else {
        return;
    };
    let Some(bits) = division.integer_bits() else {
        return;
    };
    let place = Place::before(division);
    let is_unsigned = division.is_unsigned_division();
    let [number, divisor] = [number, divisor].map(|operand| match is_unsigned {
        true => extended(place, operand, bits),
        false => place.sign_extended(operand, 32),
    });
    let result = place.binary(division.opcode(), number, divisor);
    // What is extended anyway needs no lower half.
    for user in division.users() {
        let is_extended = is_unsigned && user.is_instruction() && user.opcode() == opcode::ZEXT;
        if let Some(wide) = user.integer_bits().filter(|_| is_extended) {
            user.replace_by(Place::before(user).resized(result, wide));
        }
    }
    division.replace_by(place.resized(result, bits));
}

/// An unsigned number of so many bits as one of 32.
fn extended<'c>(place: Place<'c>, number: Value<'c>, bits: u32) -> Value<'c> {
    let wide = wide(place, number, DEPTH);
    match wide.is_exact {
        true => wide.number,
        false => {
            let mask = place.constant(32, (1 << bits) - 1);
            place.binary(opcode::AND, wide.number, mask)
        }
    }
}

/// A number of 32 bits whose lower bits are another number.
struct Wide<'c> {
    number: Value<'c>,
    /// Whether the upper bits are zero.
    is_exact: bool,
}

fn wide<'c>(place: Place<'c>, number: Value<'c>, depth: u32) -> Wide<'c> {
    let is_exact = |number| Wide {
        number,
        is_exact: true,
    };
    if !number.is_instruction() || depth == 0 {
        return is_exact(place.resized(number, 32));
    }
    let operands = (number.operand(0), number.operand(1));
    let is_cut = |whole: Value<'c>| whole.integer_bits().is_some_and(|bits| bits >= 32);
    match (number.opcode(), operands) {
        (opcode::TRUNC, (Some(whole), _)) if is_cut(whole) => Wide {
            number: place.resized(whole, 32),
            is_exact: false,
        },
        (operation, (Some(left), Some(right)))
            if of_lower_bits(operation) && number.users().len() == 1 =>
        {
            let (left, right) = (wide(place, left, depth - 1), wide(place, right, depth - 1));
            let (some, both) = (
                left.is_exact || right.is_exact,
                left.is_exact && right.is_exact,
            );
            Wide {
                number: place.binary(operation, left.number, right.number),
                is_exact: match operation {
                    opcode::AND => some,
                    opcode::OR | opcode::XOR => both,
                    _ => false,
                },
            }
        }
        _ => is_exact(place.resized(number, 32)),
    }
}

/// Whether the lower bits of an operation's result depend on the lower bits of its operands alone.
fn of_lower_bits(operation: i32) -> bool {
    matches!(
        operation,
        opcode::ADD | opcode::SUB | opcode::MUL | opcode::AND | opcode::OR | opcode::XOR
    )
}
