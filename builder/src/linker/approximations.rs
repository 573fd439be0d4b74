//! Approximations of a constant whose result PTX gives exactly.
//!
//! ```text
//! c = asm "cos.approx.f32", -0.0     c = 1.0
//! s = asm "sin.approx.f32", -0.0     s = -0.0
//! ```
//!
//! The device library writes them as inline assembly, of which LLVM knows nothing; ptxas does, but by then the arithmetic with the result is no longer
//! simplified. The first round of an unrolled Fourier transform rotates by an angle of 0.

use crate::llvm::{Module, Value};

/// What follows: the arithmetic with the constants.
const CLEAN_UP: &str = "function(instcombine<no-verify-fixpoint>,early-cse<memssa>)";

/// Replaces the approximations of zero.
pub(super) fn fold(module: &Module<'_>) -> Result<(), String> {
    let functions = module.functions().into_iter();
    let calls = functions.flat_map(|function| function.instructions());
    let known: Vec<_> = calls
        .filter_map(|call| Some((call, of_zero(call)?)))
        .collect();
    for (call, result) in &known {
        call.replace_by(*result);
    }
    match known.is_empty() {
        true => Ok(()),
        false => module.run_passes(CLEAN_UP, None),
    }
}

/// The result, if the operand is a zero: by the tables of the PTX ISA, which say it of either sign, and with `.ftz` as without.
fn of_zero(call: Value<'_>) -> Option<Value<'_>> {
    let text = call.called_assembly()?.asm_text();
    let is = |name: &str| text.starts_with(name) && text.matches(';').count() == 1;
    let operand = call.operand(0)?;
    if operand.as_float()? != 0.0 || operand.ty() != call.ty() {
        return None;
    }
    if is("sin.approx.") {
        Some(operand)
    } else if is("cos.approx.") || is("ex2.approx.") {
        Some(Value::float_like(1.0, operand))
    } else {
        None
    }
}
