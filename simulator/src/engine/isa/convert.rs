//! `cvt` to and from floating point, and between integers with `.sat`: the common conversions as vector code, all others
//! through [`numerics::convert`](crate::numerics::convert).

use super::family::Family;
use half::{bf16, f16};

use super::lowering::{Word, emit_with};
use super::{convert_integer, lanewise, lanewise_with};
use crate::engine::exec::op::{Code, scalar, vector};
use crate::engine::exec::operand::Encode;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Width};
use crate::numerics::Rounding;
use crate::numerics::convert::{Conversion, Scalar};
use crate::ptx::Result;
use crate::ptx::ast::{Instruction, Operand};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["cvt"],
    read,
};

lanewise! {
    S32ToF32(a: i32) -> f32 { a as f32 }
    U32ToF32(a: u32) -> f32 { a as f32 }
    S32ToF64(a: i32) -> f64 { a.into() }
    U32ToF64(a: u32) -> f64 { a.into() }
    S64ToF64(a: i64) -> f64 { a as f64 }
    U64ToF64(a: u64) -> f64 { a as f64 }
    F32ToS32(a: f32) -> i32 { a as i32 }
    F32ToU32(a: f32) -> u32 { a as u32 }
    F64ToS32(a: f64) -> i32 { if a.is_nan() { i32::MIN } else { a as i32 } }
    F32ToF64(a: f32) -> f64 { a.into() }
    F64ToF32(a: f64) -> u32 {
        let nan = (a.to_bits() >> 32 & 0x8000_0000 | a.to_bits() >> 29 & 0x003f_ffff | 0x7fc0_0000) as u32;
        if a.is_nan() { nan } else { (a as f32).to_bits() }
    }
    F16ToF32(a: u16) -> u32 { canonical(f16::from_bits(a).to_f32()) }
    Bf16ToF32(a: u16) -> u32 { u32::from(a) << 16 }
    F32ToF16(a: f32) -> u16 { if a.is_nan() { 0x7fff } else { f16::from_f32(a).to_bits() } }
    F32ToBf16(a: f32) -> u16 { if a.is_nan() { 0x7fff } else { bf16::from_f32(a).to_bits() } }
}

#[inline(always)]
fn canonical(value: f32) -> u32 {
    if value.is_nan() {
        0x7fff_ffff
    } else {
        value.to_bits()
    }
}

impl Encode for Conversion {
    #[inline(always)]
    fn encode(self) -> u32 {
        self.code()
    }

    #[inline(always)]
    fn decode(word: u32) -> Conversion {
        Conversion::from_code(word)
    }
}

// Any conversion of one value; two values into one register, for `cvt.pack` above the low bits of a third; and both halves
// of a register.
lanewise_with! {
    General<S: Word, D: Word>(a: S; conversion: Conversion) -> D { D::low(conversion.apply(a.wide())) }
    Pack<S: Word, D: Word>(a: S, b: S; conversion: Conversion) -> D {
        D::low(conversion.pack(a.wide(), b.wide()))
    }
    PackBelow(a: u32, b: u32, c: u32; conversion: Conversion) -> u32 {
        conversion.pack(a.into(), b.into()) as u32 | c << (2 * conversion.to.width())
    }
    Unpack<S: Word, D: Word>(a: S; conversion: Conversion) -> D { D::low(conversion.unpack(a.wide())) }
}

/// A type in a `cvt`, and how many of it are packed.
fn scalar_type(name: &str) -> Option<(Scalar, u32)> {
    match name.strip_suffix("x2") {
        Some(name) => Some((Scalar::parse(name)?, 2)),
        None => Some((Scalar::parse(name)?, 1)),
    }
}

fn ty_of(scalar: Scalar) -> Ty {
    let kind = match scalar {
        Scalar::F16 | Scalar::F32 | Scalar::F64 => ScalarKind::Float,
        Scalar::Bf16 => ScalarKind::Brain,
        _ => match scalar.signed() {
            Some(true) => ScalarKind::Signed,
            Some(false) => ScalarKind::Unsigned,
            None => ScalarKind::Bits,
        },
    };
    Ty::new(kind, scalar.width())
}

/// The contents of a register.
fn register_type(bits: u32) -> Ty {
    Ty::new(ScalarKind::Bits, bits)
}

/// The register width of an operand of this type: that of the register, if it is wider, since `cvt` takes the low bits.
fn width_for<'a>(cx: &mut Builder<'a, '_>, operand: &Operand<'a>, bits: u32) -> Width {
    let least = Width::of(register_type(bits));
    match cx.width_of(operand) {
        Some(found @ (Width::W32 | Width::W64)) if found.lane_bytes() > least.lane_bytes() => found,
        _ => least,
    }
}

macro_rules! by_widths {
    ($op:ident, $from:expr, $to:expr) => {
        match ($from, $to) {
            (Width::W16, Width::W16) => scalar::<$op<u16, u16>>(),
            (Width::W16, Width::W32) => scalar::<$op<u16, u32>>(),
            (Width::W16, _) => scalar::<$op<u16, u64>>(),
            (Width::W32, Width::W16) => scalar::<$op<u32, u16>>(),
            (Width::W32, Width::W32) => scalar::<$op<u32, u32>>(),
            (Width::W32, _) => scalar::<$op<u32, u64>>(),
            (_, Width::W16) => scalar::<$op<u64, u16>>(),
            (_, Width::W32) => scalar::<$op<u64, u32>>(),
            (_, _) => scalar::<$op<u64, u64>>(),
        }
    };
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.has("pack") {
        return pack_integers(form);
    }
    let rounding = form.next(Rounding::parse);
    let sat = form.has("sat");
    let satfinite = form.has("satfinite");
    let ftz = form.has("ftz");
    let relu = form.has("relu");
    let (to, to_count) = form.next(scalar_type)?;
    let (from, from_count) = form.next(scalar_type)?;
    let integers = to.signed().is_some() && from.signed().is_some();
    if integers && !sat {
        let changes = rounding.is_some() || satfinite || ftz || relu;
        let single = !changes && to_count == 1 && from_count == 1;
        return single.then(|| convert_integer::lowering(ty_of(to), ty_of(from)));
    }
    // Without one the conversion is exact, or saturates integers.
    let (direction, whole) = rounding.unwrap_or((Rounding::NearestEven, false));
    let floats = to.signed().is_none() && from.signed().is_none();
    let conversion = Conversion {
        to,
        from,
        rounding: direction,
        integral: whole && floats,
        sat,
        satfinite,
        ftz,
        relu,
    };
    let option = conversion.encode();
    match (to_count, from_count, form.operands()) {
        (1, 1, 2) => Some(Lowering::new(move |cx, inst| single(cx, inst, conversion))),
        (2, 1, 3) => {
            let result = register_type(2 * to.width());
            let source = ty_of(from);
            let code = by_widths!(Pack, Width::of(source), Width::of(result));
            Some(emit_with(code, result, &[source; 2], &[option]))
        }
        (2, 2, 2) => {
            let (result, source) = (
                register_type(2 * to.width()),
                register_type(2 * from.width()),
            );
            let code = by_widths!(Unpack, Width::of(source), Width::of(result));
            Some(emit_with(code, result, &[source], &[option]))
        }
        _ => None,
    }
}

fn single<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    conversion: Conversion,
) -> Result<()> {
    let (to, from) = (conversion.to, conversion.from);
    let target = width_for(cx, &inst.operands[0], to.width());
    let source = width_for(cx, &inst.operands[1], from.width());
    let d = cx.dst(&inst.operands[0], target)?;
    let a = match cx.width_of(&inst.operands[1]) {
        Some(_) => cx.src(&inst.operands[1], register_type(source.lane_bytes() * 8))?,
        None => cx.src(&inst.operands[1], ty_of(from))?,
    };
    let exact = |width: Width, scalar: Scalar| width.lane_bytes() * 8 == scalar.width();
    if exact(target, to)
        && exact(source, from)
        && let Some(code) = common(conversion)
    {
        cx.emit_fields(code, &[d, a]);
    } else {
        let code = by_widths!(General, source, target);
        cx.emit_fields_with(code, &[d, a], &[conversion.encode()]);
    }
    Ok(())
}

/// The conversions worth vector code; types and registers have equal widths.
fn common(conversion: Conversion) -> Option<Code> {
    use Scalar::*;
    let (to, from) = (conversion.to, conversion.from);
    let plain = Conversion::new(to, from, conversion.rounding) == conversion;
    if !plain {
        return None;
    }
    match (to, from, conversion.rounding) {
        (F32, S32, Rounding::NearestEven) => Some(vector::<S32ToF32>()),
        (F32, U32, Rounding::NearestEven) => Some(vector::<U32ToF32>()),
        (F64, S32, _) => Some(vector::<S32ToF64>()),
        (F64, U32, _) => Some(vector::<U32ToF64>()),
        (F64, S64, Rounding::NearestEven) => Some(vector::<S64ToF64>()),
        (F64, U64, Rounding::NearestEven) => Some(vector::<U64ToF64>()),
        (S32, F32, Rounding::Zero) => Some(vector::<F32ToS32>()),
        (U32, F32, Rounding::Zero) => Some(vector::<F32ToU32>()),
        (S32, F64, Rounding::Zero) => Some(vector::<F64ToS32>()),
        (F64, F32, _) => Some(vector::<F32ToF64>()),
        (F32, F64, Rounding::NearestEven) => Some(vector::<F64ToF32>()),
        (F32, F16, _) => Some(vector::<F16ToF32>()),
        (F32, Bf16, _) => Some(vector::<Bf16ToF32>()),
        (F16, F32, Rounding::NearestEven) => Some(vector::<F32ToF16>()),
        (Bf16, F32, Rounding::NearestEven) => Some(vector::<F32ToBf16>()),
        _ => None,
    }
}

/// `cvt.pack.sat.TYPE.s32 d, a, b` and, for types of 8 bits or fewer, `cvt.pack.sat.TYPE.s32.b32 d, a, b, c`.
fn pack_integers(form: &FormReader<'_>) -> Option<Lowering> {
    let sat = form.has("sat");
    let (to, _) = form.next(scalar_type)?;
    let (from, _) = form.next(scalar_type)?;
    let conversion = Conversion {
        sat,
        ..Conversion::new(to, from, Rounding::Zero)
    };
    let (code, sources) = match form.slot("cType") {
        Some(_) => (scalar::<PackBelow>(), 3),
        None => (scalar::<Pack<u32, u32>>(), 2),
    };
    let option = conversion.encode();
    Some(emit_with(
        code,
        Ty::U32,
        &[Ty::U32; 3][..sources],
        &[option],
    ))
}
