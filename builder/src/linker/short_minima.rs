//! Minima and maxima of numbers of 8 and 16 bits are made in 32 bits.
//!
//! ```text
//! ld.shared.b8 a, [p]                      ld.shared.b8 a, [p]
//! ld.shared.b8 b, [p+1]                    ld.shared.b8 b, [p+1]
//! max.u16 c, a, b                          cvt.u32.u16 d, a; cvt.u32.u16 e, b
//!                                          max.u32 c, d, e
//! ```
//!
//! For `max.u16` ptxas takes the instruction for pairs of 16 bits, whose operands it gives every other register. A register has 32 bits, and a load clears
//! the upper ones, so that the wider instruction costs nothing more. C++ has no other one, either: it promotes integers.

use rustc_hash::FxHashMap as HashMap;

use crate::llvm::{Module, Place, Value};

/// Widens those of all functions.
pub(super) fn widen(module: &Module<'_>) {
    for function in module.functions() {
        // What a short one is the lower part of.
        let mut wide = HashMap::default();
        for short in function.instructions() {
            if let Some((name, extension)) = short_minimum(short) {
                widen_one(module, short, &name, extension, &mut wide);
            }
        }
    }
}

/// How a number is extended.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Extension {
    Zero,
    Sign,
}

/// The name of the intrinsic that does the same in 32 bits, if an instruction is a minimum or maximum of fewer ones.
fn short_minimum(instruction: Value<'_>) -> Option<(String, Extension)> {
    let callee = instruction.is_call().then(|| instruction.callee())??;
    let name = callee.name();
    let (operation, extension) = match name.strip_prefix("llvm.")?.split_once('.')? {
        (operation @ ("umin" | "umax"), "i8" | "i16") => (operation, Extension::Zero),
        (operation @ ("smin" | "smax"), "i8" | "i16") => (operation, Extension::Sign),
        _ => return None,
    };
    Some((format!("llvm.{operation}.i32"), extension))
}

fn widen_one<'c>(
    module: &Module<'c>,
    short: Value<'c>,
    name: &str,
    extension: Extension,
    wide: &mut HashMap<(Value<'c>, Extension), Value<'c>>,
) {
    let (Some(left), Some(right)) = (short.operand(0), short.operand(1)) else {
        return;
    };
    let Some(bits) = short.integer_bits() else {
        return;
    };
    let place = Place::before(short);
    let operand = |value| match (wide.get(&(value, extension)), extension) {
        (Some(whole), _) => *whole,
        (None, Extension::Zero) => place.resized(value, 32),
        (None, Extension::Sign) => place.sign_extended(value, 32),
    };
    let (left, right) = (operand(left), operand(right));
    let function = module.declaration(name, left.ty(), &[left.ty(), right.ty()]);
    let whole = short.build_call_before(function, &[left, right]);
    let part = place.resized(whole, bits);
    wide.insert((part, extension), whole);
    short.replace_by(part);
}
