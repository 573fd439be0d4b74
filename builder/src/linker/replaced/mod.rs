//! Replaces instructions that LLVM's NVPTX target has no translation for, or a wrong or slow one, by calls of functions.
//!
//! - The remainder of floating-point numbers, which LLVM translates to `x - trunc(x / y) * y`, rounded at each step.
//! - Conversions between floating-point numbers and 128-bit integers, for which LLVM wants a library.
//! - Divisions of 128-bit integers, which LLVM translates to a loop over the bits ([`wide_divisions`]).
//!
//! The functions come from `compiler_builtins` and from the linker's own [`builtins`](crate::builtins). What is constant is computed
//! by LLVM before, and exactly.

use std::collections::BTreeSet;

use crate::llvm::{Attribute, Module, Value, ValueKind, opcode};

mod wide_divisions;

const REMAINDER_F32: &str = "__warpsmith_remainder_f32";
const REMAINDER_F64: &str = "__warpsmith_remainder_f64";

/// Every function that may be called.
pub(super) const FUNCTIONS: [&str; 14] = [
    REMAINDER_F32,
    REMAINDER_F64,
    wide_divisions::QUOTIENT_UNSIGNED,
    wide_divisions::QUOTIENT_SIGNED,
    wide_divisions::REMAINDER_UNSIGNED,
    wide_divisions::REMAINDER_SIGNED,
    "__floattisf",
    "__floattidf",
    "__floatuntisf",
    "__floatuntidf",
    "__fixsfti",
    "__fixdfti",
    "__fixunssfti",
    "__fixunsdfti",
];

/// Functions for instructions that LLVM makes of one another: where it knows the sign, signed ones become unsigned ones; and of a quotient times
/// the divisor it makes a remainder.
const RELATED: [&[&str]; 5] = [
    &["__floattisf", "__floatuntisf"],
    &["__floattidf", "__floatuntidf"],
    &["__fixsfti", "__fixunssfti"],
    &["__fixdfti", "__fixunsdfti"],
    &wide_divisions::FUNCTIONS,
];

/// The functions that the instructions of a part of the module may need.
pub(super) fn needed_by(part: &Module<'_>) -> impl Iterator<Item = &'static str> {
    instructions(part).flat_map(|(_, symbol)| may_need(symbol))
}

/// Those of `symbols` that the module does not define.
pub(super) fn missing(module: &Module<'_>, symbols: &BTreeSet<&'static str>) -> Vec<String> {
    symbols
        .iter()
        .filter(|symbol| module.function(symbol).is_none_or(|f| f.is_declaration()))
        .map(|symbol| (*symbol).to_owned())
        .collect()
}

/// The functions with such instructions, and the functions that they may need then.
pub(super) fn needs(module: &Module<'_>) -> impl Iterator<Item = (String, String)> {
    instructions(module).flat_map(|(instruction, symbol)| {
        let function = instruction.function().map(Value::name);
        may_need(symbol).filter_map(move |symbol| Some((function.clone()?, symbol.to_owned())))
    })
}

/// The function for an instruction, and those for what LLVM may have made of the instruction when it is replaced.
fn may_need(symbol: &'static str) -> impl Iterator<Item = &'static str> {
    let related = RELATED.into_iter().find(|group| group.contains(&symbol));
    let of_group = related.into_iter().flatten().copied();
    of_group.chain((related.is_none()).then_some(symbol))
}

/// Replaces all such instructions.
pub(super) fn replace(module: &Module<'_>) {
    for function in FUNCTIONS.iter().filter_map(|name| module.function(name)) {
        // As what they replace: so LLVM makes one call of several.
        function.add_number(Attribute::Function, "memory", 0);
        function.add_flag(Attribute::Function, "willreturn");
        function.add_flag(Attribute::Function, "nounwind");
    }
    let (divisions, others): (Vec<_>, Vec<_>) =
        instructions(module).partition(|(_, symbol)| wide_divisions::FUNCTIONS.contains(symbol));
    for (instruction, symbol) in others {
        if let Some(function) = module.function(symbol) {
            replace_by_call(instruction, function);
        }
    }
    wide_divisions::replace(module, &divisions);
}

/// All instructions that are to be replaced, with the function for each.
fn instructions<'c>(module: &Module<'c>) -> impl Iterator<Item = (Value<'c>, &'static str)> {
    module
        .functions()
        .into_iter()
        .filter(|function| !FUNCTIONS.contains(&function.name().as_str()))
        .flat_map(Value::instructions)
        .filter_map(|instruction| Some((instruction, replacement(instruction)?)))
}

/// The function for an instruction, `None` if LLVM translates it.
fn replacement(instruction: Value<'_>) -> Option<&'static str> {
    let pick = |float: Value<'_>, single, double| match float.float_bits()? {
        16 | 32 => Some(single),
        64 => Some(double),
        _ => None,
    };
    let is_wide = |integer: Value<'_>| integer.integer_bits() == Some(128);
    match instruction.opcode() {
        opcode::FREM => {
            let bits = match instruction.float_vector() {
                Some((_, bits)) => bits,
                None => instruction.float_bits()?,
            };
            Some(if bits == 64 {
                REMAINDER_F64
            } else {
                REMAINDER_F32
            })
        }
        opcode::UI_TO_FP if is_wide(instruction.operand(0)?) => {
            pick(instruction, "__floatuntisf", "__floatuntidf")
        }
        opcode::SI_TO_FP if is_wide(instruction.operand(0)?) => {
            pick(instruction, "__floattisf", "__floattidf")
        }
        opcode::FP_TO_UI if is_wide(instruction) => {
            pick(instruction.operand(0)?, "__fixunssfti", "__fixunsdfti")
        }
        opcode::FP_TO_SI if is_wide(instruction) => {
            pick(instruction.operand(0)?, "__fixsfti", "__fixdfti")
        }
        opcode::CALL if is_wide(instruction) => {
            let callee = instruction
                .callee()
                .filter(|c| c.kind() == ValueKind::Function)?;
            let name = callee.name();
            if name.starts_with("llvm.fptoui.sat.i128.") {
                pick(instruction.operand(0)?, "__fixunssfti", "__fixunsdfti")
            } else if name.starts_with("llvm.fptosi.sat.i128.") {
                pick(instruction.operand(0)?, "__fixsfti", "__fixdfti")
            } else {
                None
            }
        }
        _ => wide_divisions::function_for(instruction),
    }
}

/// Calls `function` with the instruction's operands, element by element if they are vectors.
fn replace_by_call(instruction: Value<'_>, function: Value<'_>) {
    let count = function.parameter_count();
    let Some(operands) = (0..count)
        .map(|n| instruction.operand(n))
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let result = match instruction.float_vector() {
        None => call(instruction, function, &operands, instruction.ty()),
        Some((length, _)) => {
            let mut vector = Value::undefined(instruction.ty(), instruction);
            for n in 0..length {
                let elements: Vec<_> = operands
                    .iter()
                    .map(|&operand| instruction.build_element_before(operand, n))
                    .collect();
                let element = call(instruction, function, &elements, elements[0].ty());
                vector = instruction.build_insertion_before(vector, element, n);
            }
            vector
        }
    };
    instruction.replace_by(result);
}

/// A call before `at`. Half-precision numbers are converted: their values are numbers of single precision, and so are the remainders;
/// the integers that are less than the largest of them are exact in single precision, too, and rounded once.
fn call<'c>(
    at: Value<'c>,
    function: Value<'c>,
    operands: &[Value<'c>],
    ty: crate::llvm::sys::TypeRef,
) -> Value<'c> {
    let arguments: Vec<_> = (0..)
        .zip(operands)
        .map(
            |(n, &operand)| match (operand.float_bits(), function.parameter(n)) {
                (Some(_), Some(parameter)) => at.build_float_cast_before(operand, parameter.ty()),
                _ => operand,
            },
        )
        .collect();
    let result = at.build_call_before(function, &arguments);
    if result.float_bits().is_some() {
        at.build_float_cast_before(result, ty)
    } else {
        result
    }
}
