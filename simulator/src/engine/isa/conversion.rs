//! `cvt` to and from floating point, and between integers with `.sat`: the common conversions as vector code, all others
//! through [`numerics::convert`](crate::numerics::convert).

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::level::Code;
use half::{bf16, f16};

use super::lanewise;
use crate::engine::exec::lanes::{LANES, lanes_of, put, src};
use crate::engine::exec::level::{Level, scalar, vector};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::numerics::Rounding;
use crate::numerics::convert::{Conversion, Scalar};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::{Error, Result};

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
    F64ToF32(a: f64) -> u32 { if a.is_nan() { 0x7fff_ffff } else { (a as f32).to_bits() } }
    F16ToF32(a: u16) -> u32 { canonical(f16::from_bits(a).to_f32()) }
    Bf16ToF32(a: u16) -> u32 { canonical(f32::from_bits(u32::from(a) << 16)) }
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

/// Unsigned register contents of any width.
pub(crate) trait Word: Copy + Default {
    fn widen(self) -> u64;
    fn narrow(wide: u64) -> Self;
}
macro_rules! word {
    ($($ty:ty)*) => { $(impl Word for $ty {
        #[inline(always)]
        fn widen(self) -> u64 { self.into() }
        #[inline(always)]
        fn narrow(wide: u64) -> $ty { wide as $ty }
    })* };
}
word! { u16 u32 u64 }

/// Any conversion: `x` holds its code.
struct General<S, D>(std::marker::PhantomData<(S, D)>);

impl<S: Word, D: Word> WordsOp for General<S, D> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let conversion = Conversion::from_code(inst.x);
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let a = src::<S>(warp, inst.a);
            let mut result = [D::default(); LANES];
            for lane in lanes_of(warp.mask) {
                result[lane] = D::narrow(conversion.apply(a[lane].widen()));
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// Two values into one register: `x` holds the conversion's code; bit 31 says that `c` supplies the bits above.
struct Pack<S, D>(std::marker::PhantomData<(S, D)>);

impl<S: Word, D: Word> WordsOp for Pack<S, D> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let conversion = Conversion::from_code(inst.x);
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let (a, b) = (src::<S>(warp, inst.a), src::<S>(warp, inst.b));
            let mut result = [D::default(); LANES];
            for lane in lanes_of(warp.mask) {
                result[lane] = D::narrow(conversion.pack(a[lane].widen(), b[lane].widen()));
            }
            if inst.x >> 31 != 0 {
                let c = src::<u32>(warp, inst.c);
                for lane in lanes_of(warp.mask) {
                    result[lane] = D::narrow(
                        result[lane].widen() | u64::from(c[lane]) << (2 * conversion.to.width()),
                    );
                }
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// Both halves of a register: `x` holds the conversion's code.
struct Unpack<S, D>(std::marker::PhantomData<(S, D)>);

impl<S: Word, D: Word> WordsOp for Unpack<S, D> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let conversion = Conversion::from_code(inst.x);
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let a = src::<S>(warp, inst.a);
            let mut result = [D::default(); LANES];
            for lane in lanes_of(warp.mask) {
                result[lane] = D::narrow(conversion.unpack(a[lane].widen()));
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
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
        Scalar::F16 | Scalar::F32 | Scalar::F64 => Kind::Float,
        Scalar::Bf16 => Kind::Brain,
        _ => match scalar.signed() {
            Some(true) => Kind::Signed,
            Some(false) => Kind::Unsigned,
            None => Kind::Bits,
        },
    };
    Ty {
        kind,
        bits: scalar.width(),
        packed: 1,
    }
}

fn register_type(bits: u32) -> Ty {
    Ty {
        kind: Kind::Bits,
        bits,
        packed: 1,
    }
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

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if modifiers.flag("pack") {
        return pack_integers(cx, inst, modifiers);
    }
    let rounding = modifiers.next_if(Rounding::parse);
    let (mut sat, mut satfinite, mut ftz, mut relu) = (false, false, false, false);
    for (flag, name) in [
        (&mut sat, "sat"),
        (&mut satfinite, "satfinite"),
        (&mut ftz, "ftz"),
        (&mut relu, "relu"),
    ] {
        *flag = modifiers.flag(name);
    }
    let types = modifiers
        .next_if(scalar_type)
        .zip(modifiers.next_if(scalar_type));
    let ((to, to_count), (from, from_count)) = types.ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    let integers = to.signed().is_some() && from.signed().is_some();
    if integers && !sat {
        return super::convert::lower(cx, inst);
    }
    let (direction, whole) = rounding.unwrap_or((default_rounding(to, from), false));
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
    let refused = |why: &str| Err(Error::new(inst.at, format!("`{}`: {why}", inst.name())));
    if rounding.is_none() {
        if from.signed().is_none() && to.signed().is_some() {
            return refused(
                "a conversion from floating point to an integer needs a rounding such as `.rzi`",
            );
        }
        let inexact = match (from.signed(), to.signed()) {
            (Some(_), None) => true,
            (None, None) => narrows(to, from) || to == Scalar::Tf32,
            _ => false,
        };
        if inexact {
            return refused("this conversion needs a rounding such as `.rn`");
        }
    } else if whole != (from.signed().is_none() && (to.signed().is_some() || to == from)) {
        return refused("this rounding does not go with these types");
    }
    match (to_count, from_count, inst.operands.len()) {
        (1, 1, 2) => single(cx, inst, conversion),
        (2, 1, 3) => {
            let (source, target) = (
                Width::of(register_type(from.width())),
                Width::of(register_type(2 * to.width())),
            );
            let exec = by_widths!(Pack, source, target);
            let d = cx.dst(&inst.operands[0], target)?;
            let (a, b) = (
                cx.src(&inst.operands[1], ty_of(from))?,
                cx.src(&inst.operands[2], ty_of(from))?,
            );
            cx.emit_untyped(exec, d, a, b, Field::NONE).x = Link::Raw(conversion.code());
            Ok(())
        }
        (2, 2, 2) => {
            let (source, target) = (
                Width::of(register_type(2 * from.width())),
                Width::of(register_type(2 * to.width())),
            );
            let exec = by_widths!(Unpack, source, target);
            let d = cx.dst(&inst.operands[0], target)?;
            let a = cx.src(&inst.operands[1], register_type(2 * from.width()))?;
            cx.emit_untyped(exec, d, a, Field::NONE, Field::NONE).x = Link::Raw(conversion.code());
            Ok(())
        }
        _ => {
            expect_operands(
                inst,
                &[if to_count == 2 && from_count == 1 {
                    3
                } else {
                    2
                }],
            )?;
            Err(unknown(inst))
        }
    }
}

/// Whether a conversion between floating-point types can lose something.
fn narrows(to: Scalar, from: Scalar) -> bool {
    let (Some(to), Some(from)) = (to.format(), from.format()) else {
        return false;
    };
    to.fraction_bits < from.fraction_bits || to.exponent_bits < from.exponent_bits
}

fn default_rounding(to: Scalar, from: Scalar) -> Rounding {
    if to.signed().is_some() && from.signed().is_none() {
        Rounding::Zero
    } else {
        Rounding::NearestEven
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
        && let Some(exec) = common(conversion)
    {
        cx.emit_untyped(exec, d, a, Field::NONE, Field::NONE);
        return Ok(());
    }
    let exec = by_widths!(General, source, target);
    cx.emit_untyped(exec, d, a, Field::NONE, Field::NONE).x = Link::Raw(conversion.code());
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
fn pack_integers<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    mut modifiers: Modifiers<'a>,
) -> Result<()> {
    if !modifiers.flag("sat") {
        return Err(unknown(inst));
    }
    let types = modifiers
        .next_if(scalar_type)
        .zip(modifiers.next_if(scalar_type));
    let ((to, 1), (Scalar::S32, 1)) = types.ok_or_else(|| unknown(inst))? else {
        return Err(unknown(inst));
    };
    let third = modifiers.flag("b32");
    modifiers.finish(inst)?;
    let allowed = if third {
        matches!(to, Scalar::U8 | Scalar::S8)
    } else {
        matches!(to, Scalar::U16 | Scalar::S16)
    };
    if !allowed {
        return Err(unknown(inst));
    }
    expect_operands(inst, &[if third { 4 } else { 3 }])?;
    let conversion = Conversion {
        sat: true,
        ..Conversion::new(to, Scalar::S32, Rounding::Zero)
    };
    let word = register_type(32);
    let d = cx.dst(&inst.operands[0], Width::W32)?;
    let (a, b) = (
        cx.src(&inst.operands[1], word)?,
        cx.src(&inst.operands[2], word)?,
    );
    let c = if third {
        cx.src(&inst.operands[3], word)?
    } else {
        Field::NONE
    };
    let code = conversion.code() | u32::from(third) << 31;
    cx.emit_untyped(scalar::<Pack<u32, u32>>(), d, a, b, c).x = Link::Raw(code);
    Ok(())
}
