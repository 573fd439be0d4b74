//! The product of two numbers of 32 bits, in 64: one instruction, which LLVM's code generator does not find where it does not see that they are short.

use super::webs::Extension;
use crate::llvm::{Place, Value};

/// Computes it before `place`; of signed numbers where they are extended so.
pub(super) fn wide<'c>(
    place: Place<'c>,
    extension: Extension,
    factors: [Value<'c>; 2],
) -> Value<'c> {
    let sign = match extension {
        Extension::Zero => 'u',
        Extension::Sign => 's',
    };
    let text = format!("mul.wide.{sign}32 $0, $1, $2;");
    let ty = place.constant(64, 0).ty();
    place.pure_assembly(&text, "=l,r,r", ty, &factors)
}

/// Whether a value is such a product.
pub(in crate::linker) fn is_wide(value: Value<'_>) -> bool {
    begins_with(value, "mul.wide.")
}

/// Whether a value is such a product of unsigned numbers.
pub(in crate::linker) fn is_unsigned_wide(value: Value<'_>) -> bool {
    begins_with(value, "mul.wide.u")
}

fn begins_with(value: Value<'_>, text: &str) -> bool {
    let assembly = value.is_instruction().then(|| value.called_assembly());
    let assembly = assembly.flatten();
    assembly.is_some_and(|assembly| assembly.asm_text().starts_with(text))
}
