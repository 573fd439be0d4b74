//! Quotients and remainders of 128-bit integers, of which LLVM makes a loop over the bits.
//!
//! Divisions by powers of two LLVM shifts, and those of numbers of 64 bits it has narrowed before. Those by other constants are a loop, too;
//! with the function's body in the place of the call, LLVM computes what depends on the constant.

use std::collections::HashSet;

use crate::llvm::{Attribute, Module, Place, Value, opcode};

pub(super) const QUOTIENT_UNSIGNED: &str = "__warpsmith_quotient_u128";
pub(super) const QUOTIENT_SIGNED: &str = "__warpsmith_quotient_i128";
pub(super) const REMAINDER_UNSIGNED: &str = "__warpsmith_remainder_u128";
pub(super) const REMAINDER_SIGNED: &str = "__warpsmith_remainder_i128";

/// The functions. Their parameters are dividend, divisor, and whether the divisor is a constant.
pub(super) const FUNCTIONS: [&str; 4] = [
    QUOTIENT_UNSIGNED,
    QUOTIENT_SIGNED,
    REMAINDER_UNSIGNED,
    REMAINDER_SIGNED,
];

/// How many divisions there may be for those by no constant to be inlined. Each takes some hundred instructions.
const MOST_INLINED: usize = 16;

/// The approximate reciprocal that they begin with.
const RECIPROCAL: &str = "llvm.nvvm.rcp.approx.ftz.f";

/// The function for an instruction, `None` if it is no such division.
pub(super) fn function_for(instruction: Value<'_>) -> Option<&'static str> {
    let function = match instruction.opcode() {
        opcode::UDIV => QUOTIENT_UNSIGNED,
        opcode::SDIV => QUOTIENT_SIGNED,
        opcode::UREM => REMAINDER_UNSIGNED,
        opcode::SREM => REMAINDER_SIGNED,
        _ => return None,
    };
    let is_wide = instruction.integer_bits() == Some(128);
    (is_wide && !is_by_power_of_two(instruction)).then_some(function)
}

/// Whether the divisor is a constant power of two, or a negative one.
fn is_by_power_of_two(division: Value<'_>) -> bool {
    let divisor = division.operand(1).filter(|d| d.as_integer().is_some());
    divisor.is_some_and(|divisor| {
        // Arithmetic of constants makes constants, and no instructions.
        let place = Place::before(division);
        let negated = place.binary(opcode::SUB, place.zero(divisor.ty()), divisor);
        [divisor, negated].into_iter().any(|magnitude| {
            let one = Value::integer_like(1, divisor);
            let below = place.binary(opcode::SUB, magnitude, one);
            place.binary(opcode::AND, magnitude, below).is_zero()
        })
    })
}

/// Replaces divisions, each with its function.
pub(super) fn replace(module: &Module<'_>, divisions: &[(Value<'_>, &'static str)]) {
    if let Some(reciprocal) = module.function(RECIPROCAL) {
        // It does nothing but compute, which LLVM does not say: so what depends on the divisor alone leaves loops.
        reciprocal.add_flag(Attribute::Function, "speculatable");
    }
    let quotients: HashSet<_> = divisions
        .iter()
        .filter(|(_, symbol)| quotient_for(symbol).is_none())
        .map(|&(division, symbol)| Quotient::of(division, symbol))
        .collect();
    // Before any is replaced, and with it the operands of others.
    let divisions = divisions.iter().map(|&(division, symbol)| {
        let quotient = quotient_for(symbol)
            .filter(|&quotient| quotients.contains(&Quotient::of(division, quotient)));
        (division, quotient.unwrap_or(symbol), quotient.is_some())
    });
    let divisions: Vec<_> = divisions.collect();
    let is_inlined = divisions.len() <= MOST_INLINED;
    for (division, symbol, leaves_rest) in divisions {
        if let Some(function) = module.function(symbol) {
            replace_one(division, function, leaves_rest, is_inlined);
        }
    }
}

/// What a function of the module divides by what, and by which of the [`FUNCTIONS`].
#[derive(PartialEq, Eq, Hash)]
struct Quotient<'c> {
    in_function: Option<Value<'c>>,
    symbol: &'static str,
    operands: [Option<Value<'c>>; 2],
}

impl<'c> Quotient<'c> {
    fn of(division: Value<'c>, symbol: &'static str) -> Quotient<'c> {
        Quotient {
            in_function: division.function(),
            symbol,
            operands: [division.operand(0), division.operand(1)],
        }
    }
}

/// The function for the quotient, of one for a remainder.
fn quotient_for(symbol: &str) -> Option<&'static str> {
    match symbol {
        REMAINDER_UNSIGNED => Some(QUOTIENT_UNSIGNED),
        REMAINDER_SIGNED => Some(QUOTIENT_SIGNED),
        _ => None,
    }
}

/// Puts a call in the place of a division, or what the quotient that is called for leaves of the dividend: a remainder whose quotient is asked
/// for as well has the same call, and LLVM makes one of both.
fn replace_one(division: Value<'_>, function: Value<'_>, leaves_rest: bool, is_inlined: bool) {
    let (Some(dividend), Some(divisor)) = (division.operand(0), division.operand(1)) else {
        return;
    };
    let place = Place::before(division);
    let is_constant = divisor.as_integer().is_some();
    let arguments = [dividend, divisor, place.constant(1, is_constant.into())];
    let called = division.build_call_before(function, &arguments);
    if !is_constant && !is_inlined {
        called.add_call_flag("noinline");
    }
    division.replace_by(if leaves_rest {
        let product = place.binary(opcode::MUL, called, divisor);
        place.binary(opcode::SUB, dividend, product)
    } else {
        called
    });
}
