//! Saturating conversions of floating-point numbers to integers, as one instruction.
//!
//! Rust's `as` gives the nearest integer of the type, and 0 for NaN. PTX's `cvt.rzi` clamps to the destination's range by itself, and gives 0
//! for NaN where the source is no `.f64` and the destination is not of 64 bits, else the highest bit alone, which is as good as 0 where
//! that bit is not used. LLVM's code generator knows
//! nothing of that, and puts a comparison and a selection around it for each end and for NaN. The instructions are inline assembly,
//! as `fptoui` of what does not fit is poison. It comes after everything that could compute with the intrinsic.

use super::highest_bits;
use crate::llvm::{Place, Value, ValueKind};

/// Replaces all conversions of a function.
pub(super) fn run(function: Value<'_>) {
    for call in function.instructions().into_iter().filter(|i| is_cast(*i)) {
        convert(call);
    }
}

/// Whether an instruction is a saturating conversion.
pub(super) fn is_cast(instruction: Value<'_>) -> bool {
    is_signed(instruction).is_some()
}

/// Whether a saturating conversion is one to signed numbers; `None` of other instructions.
fn is_signed(instruction: Value<'_>) -> Option<bool> {
    let callee = instruction.is_call().then(|| instruction.callee())??;
    let name = (callee.kind() == ValueKind::Function).then(|| callee.name())?;
    match name.get(..16)? {
        "llvm.fptoui.sat." => Some(false),
        "llvm.fptosi.sat." => Some(true),
        _ => None,
    }
}

fn convert(call: Value<'_>) {
    let (Some(is_signed), Some(number)) = (is_signed(call), call.operand(0)) else {
        return;
    };
    let (Some(bits), Some(from)) = (call.integer_bits(), number.float_bits()) else {
        return;
    };
    let is_plain = is_at_least_zero(number) || !highest_bits::may_matter(call);
    let Some(text) = text(bits, is_signed, from, is_plain) else {
        return;
    };
    let constraints = match (bits, from) {
        (64, 32) => "=&l,f",
        (64, _) => "=&l,d",
        (_, 32) => "=&r,f",
        _ => "=&r,d",
    };
    let place = Place::before(call);
    let ty = place.constant(bits.max(32), 0).ty();
    let result = place.pure_assembly(&text, constraints, ty, &[number]);
    call.replace_by(place.resized(result, bits));
}

/// The instructions of a conversion; `None` where LLVM's are as good. A plain one is not of NaN, or may give the highest bit for it.
fn text(bits: u32, is_signed: bool, from: u32, is_plain: bool) -> Option<String> {
    let register = bits.max(32);
    let sign = if is_signed { 's' } else { 'u' };
    let convert = format!("cvt.rzi.{sign}{register}.f{from} $0, ");
    // Whether NaN is 0.
    let is_whole = from == 32 && register == 32;
    Some(match (bits, from, is_signed) {
        (32 | 64, 32 | 64, _) if is_whole || is_plain => format!("{convert}$1;"),
        // The greater of NaN and 0 is 0.
        (32 | 64, 32 | 64, false) => {
            let zero = if from == 32 {
                "0f00000000"
            } else {
                "0d0000000000000000"
            };
            format!("{{ .reg .f{from} t; max.f{from} t, $1, {zero}; {convert}t; }}")
        }
        (32 | 64, 32 | 64, true) => format!(
            "{{ .reg .pred p; setp.nan.f{from} p, $1, $1; {convert}$1; selp.b{bits} $0, 0, $0, p; }}"
        ),
        (8 | 16, 32, false) => {
            let highest = (1 << bits) - 1;
            format!("{convert}$1; min.u32 $0, $0, {highest};")
        }
        (8 | 16, 32, true) => {
            let half = 1 << (bits - 1);
            let (lowest, highest) = (-half, half - 1);
            format!("{convert}$1; min.s32 $0, $0, {highest}; max.s32 $0, $0, {lowest};")
        }
        _ => return None,
    })
}

/// Whether a number is neither NaN nor negative, as it is the greater one of another number and 0.
fn is_at_least_zero(number: Value<'_>) -> bool {
    let is_maximum = number.is_call_of(&["llvm.maxnum.f"]);
    is_maximum && number.operand(1).is_some_and(Value::is_zero)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn one_instruction_does_where_it_gives_zero_for_nan() {
        let one = |bits, is_signed, from, is_plain| text(bits, is_signed, from, is_plain).unwrap();
        assert_eq!(one(32, false, 32, false), "cvt.rzi.u32.f32 $0, $1;");
        assert_eq!(one(32, true, 32, false), "cvt.rzi.s32.f32 $0, $1;");
        assert_eq!(one(64, false, 32, true), "cvt.rzi.u64.f32 $0, $1;");
        assert_eq!(one(64, true, 64, true), "cvt.rzi.s64.f64 $0, $1;");
        assert!(one(64, false, 32, false).contains("max.f32"));
        assert!(one(64, true, 64, false).contains("setp.nan.f64"));
        assert!(one(8, true, 32, false).contains("max.s32 $0, $0, -128;"));
        assert_eq!(text(8, false, 64, false), None);
        assert_eq!(text(32, false, 16, false), None);
        assert_eq!(text(128, false, 32, false), None);
    }
}
