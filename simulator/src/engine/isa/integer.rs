//! Integer arithmetic.

use super::lanewise;
use super::logic::by_width;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{LANES, lanes_of, put, src};
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::level::Code;
use crate::engine::exec::level::{Level, scalar, vector};
use crate::engine::exec::operand::Value;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::numerics::integer as numeric;
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// Integers with wrapping arithmetic.
pub(crate) trait Int: Value + Default + Ord {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn mul_hi(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn add_sat(self, other: Self) -> Self;
    fn sub_sat(self, other: Self) -> Self;
}

macro_rules! int {
    ($($ty:ty, $wide:ty;)*) => { $(impl Int for $ty {
        #[inline(always)]
        fn add(self, other: $ty) -> $ty { self.wrapping_add(other) }
        #[inline(always)]
        fn sub(self, other: $ty) -> $ty { self.wrapping_sub(other) }
        #[inline(always)]
        fn mul(self, other: $ty) -> $ty { self.wrapping_mul(other) }
        #[inline(always)]
        fn mul_hi(self, other: $ty) -> $ty {
            ((<$wide>::from(self) * <$wide>::from(other)) >> <$ty>::BITS) as $ty
        }
        // Division by zero gives all ones, as on the hardware.
        #[inline(always)]
        fn div(self, other: $ty) -> $ty { if other == 0 { !0 } else { self.wrapping_div(other) } }
        #[inline(always)]
        fn rem(self, other: $ty) -> $ty { if other == 0 { self } else { self.wrapping_rem(other) } }
        #[inline(always)]
        fn neg(self) -> $ty { (0 as $ty).wrapping_sub(self) }
        #[inline(always)]
        #[allow(unused_comparisons)]
        fn abs(self) -> $ty { if self < 0 { self.neg() } else { self } }
        #[inline(always)]
        fn add_sat(self, other: $ty) -> $ty { self.saturating_add(other) }
        #[inline(always)]
        fn sub_sat(self, other: $ty) -> $ty { self.saturating_sub(other) }
    })* };
}
int! { u16, u32; i16, i32; u32, u64; i32, i64; u64, u128; i64, i128; }

lanewise! {
    Add<T: Int>(a: T, b: T) -> T { a.add(b) }
    Sub<T: Int>(a: T, b: T) -> T { a.sub(b) }
    AddSat<T: Int>(a: T, b: T) -> T { a.add_sat(b) }
    SubSat<T: Int>(a: T, b: T) -> T { a.sub_sat(b) }
    MulLo<T: Int>(a: T, b: T) -> T { a.mul(b) }
    MulHi<T: Int>(a: T, b: T) -> T { a.mul_hi(b) }
    MadLo<T: Int>(a: T, b: T, c: T) -> T { a.mul(b).add(c) }
    MadHi<T: Int>(a: T, b: T, c: T) -> T { a.mul_hi(b).add(c) }
    MadHiSat<T: Int>(a: T, b: T, c: T) -> T { a.mul_hi(b).add_sat(c) }
    Min<T: Int>(a: T, b: T) -> T { a.min(b) }
    Max<T: Int>(a: T, b: T) -> T { a.max(b) }
    MinRelu<T: Int>(a: T, b: T) -> T { a.min(b).max(T::default()) }
    MaxRelu<T: Int>(a: T, b: T) -> T { a.max(b).max(T::default()) }
    Abs<T: Int>(a: T) -> T { a.abs() }
    Neg<T: Int>(a: T) -> T { a.neg() }
    WideU16(a: u16, b: u16) -> u32 { u32::from(a) * u32::from(b) }
    WideS16(a: i16, b: i16) -> i32 { i32::from(a) * i32::from(b) }
    WideU32(a: u32, b: u32) -> u64 { u64::from(a) * u64::from(b) }
    WideS32(a: i32, b: i32) -> i64 { i64::from(a) * i64::from(b) }
    WideMadU16(a: u16, b: u16, c: u32) -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) }
    WideMadS16(a: i16, b: i16, c: i32) -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) }
    WideMadU32(a: u32, b: u32, c: u64) -> u64 { (u64::from(a) * u64::from(b)).wrapping_add(c) }
    WideMadS32(a: i32, b: i32, c: i64) -> i64 { (i64::from(a) * i64::from(b)).wrapping_add(c) }
    Popc32(a: u32) -> u32 { a.count_ones() }
    Popc64(a: u64) -> u32 { a.count_ones() }
    Clz32(a: u32) -> u32 { a.leading_zeros() }
    Clz64(a: u64) -> u32 { a.leading_zeros() }
    Brev32(a: u32) -> u32 { a.reverse_bits() }
    Brev64(a: u64) -> u64 { a.reverse_bits() }
    BfeU32(a: u32, b: u32, c: u32) -> u32 { numeric::bfe(a, b, c, false) }
    BfeS32(a: u32, b: u32, c: u32) -> u32 { numeric::bfe(a, b, c, true) }
    BfeU64(a: u64, b: u32, c: u32) -> u64 { numeric::bfe(a, b, c, false) }
    BfeS64(a: u64, b: u32, c: u32) -> u64 { numeric::bfe(a, b, c, true) }
    Fns(a: u32, b: u32, c: i32) -> u32 { numeric::fns(a, b, c) }
    Mul24U(a: u32, b: u32) -> u32 { numeric::mul24(a, b, false, false) }
    Mul24S(a: u32, b: u32) -> u32 { numeric::mul24(a, b, true, false) }
    Mul24HiU(a: u32, b: u32) -> u32 { numeric::mul24(a, b, false, true) }
    Mul24HiS(a: u32, b: u32) -> u32 { numeric::mul24(a, b, true, true) }
    Mad24U(a: u32, b: u32, c: u32) -> u32 { numeric::mul24(a, b, false, false).wrapping_add(c) }
    Mad24S(a: u32, b: u32, c: u32) -> u32 { numeric::mul24(a, b, true, false).wrapping_add(c) }
    Mad24HiU(a: u32, b: u32, c: u32) -> u32 { numeric::mul24(a, b, false, true).wrapping_add(c) }
    Mad24HiS(a: u32, b: u32, c: u32) -> u32 { numeric::mul24(a, b, true, true).wrapping_add(c) }
    Mad24HiSat(a: u32, b: u32, c: u32) -> u32 {
        (numeric::mul24(a, b, true, true) as i32).saturating_add(c as i32) as u32
    }
    Sad<T: SadInt>(a: T, b: T, c: T) -> T { a.sad(b, c) }
    Dp4aUu(a: u32, b: u32, c: u32) -> u32 { numeric::dp4a(a, b, c, false, false) }
    Dp4aUs(a: u32, b: u32, c: u32) -> u32 { numeric::dp4a(a, b, c, false, true) }
    Dp4aSu(a: u32, b: u32, c: u32) -> u32 { numeric::dp4a(a, b, c, true, false) }
    Dp4aSs(a: u32, b: u32, c: u32) -> u32 { numeric::dp4a(a, b, c, true, true) }
    ShfLeftWrap(a: u32, b: u32, c: u32) -> u32 { numeric::shf(a, b, c, true, true) }
    ShfLeftClamp(a: u32, b: u32, c: u32) -> u32 { numeric::shf(a, b, c, true, false) }
    ShfRightWrap(a: u32, b: u32, c: u32) -> u32 { numeric::shf(a, b, c, false, true) }
    ShfRightClamp(a: u32, b: u32, c: u32) -> u32 { numeric::shf(a, b, c, false, false) }
    PrmtDefault(a: u32, b: u32, c: u32) -> u32 { numeric::prmt(a, b, c, numeric::Permute::Generic) }
    Add16x2(a: u32, b: u32) -> u32 { halves(a, b, u16::wrapping_add) }
    MinU16x2(a: u32, b: u32) -> u32 { halves(a, b, u16::min) }
    MaxU16x2(a: u32, b: u32) -> u32 { halves(a, b, u16::max) }
    MinS16x2(a: u32, b: u32) -> u32 { halves(a, b, |a, b| (a as i16).min(b as i16) as u16) }
    MaxS16x2(a: u32, b: u32) -> u32 { halves(a, b, |a, b| (a as i16).max(b as i16) as u16) }
    MinS16x2Relu(a: u32, b: u32) -> u32 { halves(a, b, |a, b| (a as i16).min(b as i16).max(0) as u16) }
    MaxS16x2Relu(a: u32, b: u32) -> u32 { halves(a, b, |a, b| (a as i16).max(b as i16).max(0) as u16) }
}

/// `sad`: |a - b| + c.
pub(crate) trait SadInt: Value + Default {
    fn sad(self, b: Self, c: Self) -> Self;
}

macro_rules! sad {
    ($($ty:ty, $unsigned:ty;)*) => { $(impl SadInt for $ty {
        #[inline(always)]
        fn sad(self, b: $ty, c: $ty) -> $ty {
            let difference = if self > b { self.wrapping_sub(b) } else { b.wrapping_sub(self) };
            difference.wrapping_add(c)
        }
    })* };
}
sad! { u16, u16; u32, u32; u64, u64; i16, u16; i32, u32; i64, u64; }

#[inline(always)]
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Division: only for the lanes that execute it.
pub(crate) struct Divide<T, const REM: bool>(std::marker::PhantomData<T>);

impl<T: Int, const REM: bool> WordsOp for Divide<T, REM> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands this type's width.
        unsafe {
            let (a, b) = (src::<T>(warp, inst.a), src::<T>(warp, inst.b));
            let mut result = [T::default(); LANES];
            for lane in lanes_of(warp.mask) {
                result[lane] = if REM {
                    a[lane].rem(b[lane])
                } else {
                    a[lane].div(b[lane])
                };
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// Operations on scalars, chosen by `x`.
macro_rules! by_x {
    ($($name:ident: $a:ty, $r:ty, |$x:ident, $v:ident, $b:ident, $c:ident| $body:expr;)*) => { $(
        struct $name;
        impl WordsOp for $name {
            #[inline(always)]
            unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
                // SAFETY: the lowering gave the operands these widths; unused ones repeat the first.
                unsafe {
                    let ($x, a) = (inst.x, src::<$a>(warp, inst.a));
                    let (b, c) = (src::<$a>(warp, inst.b), src::<u32>(warp, inst.c));
                    let mut result = [<$r>::default(); LANES];
                    for lane in 0..LANES {
                        let ($v, $b, $c) = (a[lane], b[lane], c[lane]);
                        result[lane] = $body;
                    }
                    put(warp, inst.d, &result);
                }
                Flow::Next
            }
        }
    )* };
}
by_x! {
    Lop3: u32, u32, |x, a, b, c| numeric::lop3(a, b, c, x as u8);
    Bfind32: u32, u32, |x, a, _b, _c| numeric::bfind(a, x & 1 != 0, x & 2 != 0);
    Bfind64: u64, u32, |x, a, _b, _c| numeric::bfind(a, x & 1 != 0, x & 2 != 0);
    Prmt: u32, u32, |x, a, b, c| numeric::prmt(a, b, c, PERMUTES[x as usize & 7]);
    Dp2a: u32, u32, |x, a, b, c| numeric::dp2a(a, b, c, x & 1 != 0, x & 2 != 0, x & 4 != 0);
    Bmsk: u32, u32, |x, a, b, _c| numeric::bmsk(a, b, x & 1 != 0);
    Szext: u32, u32, |x, a, b, _c| numeric::szext(a, b, x & 1 != 0, x & 2 != 0);
}

const PERMUTES: [numeric::Permute; 8] = {
    use numeric::Permute::*;
    [
        Generic,
        Forward4,
        Backward4,
        Replicate8,
        EdgeLeft,
        EdgeRight,
        Replicate16,
        Generic,
    ]
};

/// `bfi`: four operands, the last in `x`'s list.
struct Bfi<T>(std::marker::PhantomData<T>);

impl<T: numeric::Word + Default> WordsOp for Bfi<T> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands these widths, and the list its one entry.
        unsafe {
            let (a, b) = (src::<T>(warp, inst.a), src::<T>(warp, inst.b));
            let (start, length) = (
                src::<u32>(warp, inst.c),
                src::<u32>(warp, warp.list(inst.x, 1)[0]),
            );
            let mut result = [T::default(); LANES];
            for lane in 0..LANES {
                result[lane] = numeric::bfi(a[lane], b[lane], start[lane], length[lane]);
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// Arithmetic with the carry flag: `x` bit 0 subtracts, bit 1 reads the flag, bit 2 writes it.
struct Carry<T>(std::marker::PhantomData<T>);

impl<T: numeric::Word + Default> WordsOp for Carry<T> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands this width.
        unsafe {
            let (a, b) = (src::<T>(warp, inst.a), src::<T>(warp, inst.b));
            let mut result = [T::default(); LANES];
            let mut flags = 0;
            for lane in 0..LANES {
                let carry = inst.x & 2 != 0 && warp.carry >> lane & 1 != 0;
                let (value, out) = if inst.x & 1 != 0 {
                    numeric::sub_borrow(a[lane], b[lane], carry)
                } else {
                    numeric::add_carry(a[lane], b[lane], carry)
                };
                result[lane] = value;
                flags |= u32::from(out) << lane;
            }
            put(warp, inst.d, &result);
            if inst.x & 4 != 0 {
                warp.carry = warp.carry & !warp.mask | flags & warp.mask;
            }
        }
        Flow::Next
    }
}

/// The type of the operands that count bits.
const U32: Ty = Ty {
    kind: Kind::Unsigned,
    bits: 32,
    packed: 1,
};

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    match inst.opcode {
        "add" | "sub" | "addc" | "subc"
            if inst.opcode.ends_with('c') || inst.modifiers.contains(&"cc") =>
        {
            return carry(cx, inst);
        }
        "mad" if inst.modifiers.contains(&"cc") => return mad_carry(cx, inst),
        "madc" => return mad_carry(cx, inst),
        _ => {}
    }
    let mut modifiers = Modifiers::new(inst);
    let mode = modifiers.any(&["lo", "hi", "wide", "l", "r"]);
    let sat = modifiers.flag("sat");
    let relu = modifiers.flag("relu");
    let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
    if relu && !matches!(inst.opcode, "min" | "max") {
        return Err(unknown(inst));
    }
    if ty.packed == 2 {
        return packed(cx, inst, &modifiers, ty, relu);
    }
    if !matches!(ty.kind, Kind::Unsigned | Kind::Signed | Kind::Bits)
        || ty.bits == 8
        || ty.bits == 128
    {
        return Err(unknown(inst));
    }
    let signed = ty.kind == Kind::Signed;
    macro_rules! typed {
        ($op:ident) => {
            if signed {
                by_width(
                    ty.bits,
                    vector::<$op<i16>>(),
                    vector::<$op<i32>>(),
                    vector::<$op<i64>>(),
                )
            } else {
                by_width(
                    ty.bits,
                    vector::<$op<u16>>(),
                    vector::<$op<u32>>(),
                    vector::<$op<u64>>(),
                )
            }
        };
    }
    macro_rules! divide {
        ($rem:literal) => {
            if signed {
                by_width(
                    ty.bits,
                    scalar::<Divide<i16, $rem>>(),
                    scalar::<Divide<i32, $rem>>(),
                    scalar::<Divide<i64, $rem>>(),
                )
            } else {
                by_width(
                    ty.bits,
                    scalar::<Divide<u16, $rem>>(),
                    scalar::<Divide<u32, $rem>>(),
                    scalar::<Divide<u64, $rem>>(),
                )
            }
        };
    }
    let only = |wanted: bool, exec: Code| wanted.then_some(exec);
    let s32 = signed && ty.bits == 32;
    let exec = match (inst.opcode, mode, sat) {
        ("add", None, false) => typed!(Add),
        ("sub", None, false) => typed!(Sub),
        ("add", None, true) => only(s32, vector::<AddSat<i32>>()),
        ("sub", None, true) => only(s32, vector::<SubSat<i32>>()),
        ("mul", Some("lo"), false) => typed!(MulLo),
        ("mul", Some("hi"), false) => typed!(MulHi),
        ("mad", Some("lo"), false) => typed!(MadLo),
        ("mad", Some("hi"), false) => typed!(MadHi),
        ("mad", Some("hi"), true) => only(s32, vector::<MadHiSat<i32>>()),
        ("mul" | "mad", Some("wide"), false) => return wide(cx, inst, &modifiers, ty),
        ("div", None, false) => divide!(false),
        ("rem", None, false) => divide!(true),
        ("min", None, false) if relu => only(s32, vector::<MinRelu<i32>>()),
        ("max", None, false) if relu => only(s32, vector::<MaxRelu<i32>>()),
        ("min", None, false) => typed!(Min),
        ("max", None, false) => typed!(Max),
        ("abs", None, false) if signed => typed!(Abs),
        ("neg", None, false) if signed => typed!(Neg),
        ("sad", None, false) => typed!(Sad),
        _ => return bits(cx, inst),
    };
    modifiers.finish(inst)?;
    let exec = exec
        .filter(|_| ty.kind != Kind::Bits)
        .ok_or_else(|| unknown(inst))?;
    let count = match inst.opcode {
        "abs" | "neg" => 1,
        "mad" | "sad" => 3,
        _ => 2,
    };
    let types = [ty; 3];
    emit(cx, inst, exec, ty, &types[..count])
}

fn emit<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    exec: Code,
    d: Ty,
    types: &[Ty],
) -> Result<()> {
    expect_operands(inst, &[types.len() + 1])?;
    let destination = cx.dst(&inst.operands[0], Width::of(d))?;
    let mut fields = [Field::NONE; 3];
    for (index, &ty) in types.iter().enumerate() {
        fields[index] = cx.src(&inst.operands[index + 1], ty)?;
    }
    cx.emit_untyped(exec, destination, fields[0], fields[1], fields[2]);
    Ok(())
}

fn packed<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    modifiers: &Modifiers<'a>,
    ty: Ty,
    relu: bool,
) -> Result<()> {
    modifiers.finish(inst)?;
    let exec = match (inst.opcode, ty.kind, relu) {
        _ if ty.bits != 16 => return Err(unknown(inst)),
        ("add", Kind::Unsigned | Kind::Signed, false) => vector::<Add16x2>(),
        ("min", Kind::Unsigned, false) => vector::<MinU16x2>(),
        ("max", Kind::Unsigned, false) => vector::<MaxU16x2>(),
        ("min", Kind::Signed, false) => vector::<MinS16x2>(),
        ("max", Kind::Signed, false) => vector::<MaxS16x2>(),
        ("min", Kind::Signed, true) => vector::<MinS16x2Relu>(),
        ("max", Kind::Signed, true) => vector::<MaxS16x2Relu>(),
        _ => return Err(unknown(inst)),
    };
    emit(cx, inst, exec, U32, &[U32, U32])
}

fn wide<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    modifiers: &Modifiers<'a>,
    ty: Ty,
) -> Result<()> {
    modifiers.finish(inst)?;
    let mad = inst.opcode == "mad";
    let exec = match (mad, ty.kind, ty.bits) {
        (false, Kind::Unsigned, 16) => vector::<WideU16>(),
        (false, Kind::Signed, 16) => vector::<WideS16>(),
        (false, Kind::Unsigned, 32) => vector::<WideU32>(),
        (false, Kind::Signed, 32) => vector::<WideS32>(),
        (true, Kind::Unsigned, 16) => vector::<WideMadU16>(),
        (true, Kind::Signed, 16) => vector::<WideMadS16>(),
        (true, Kind::Unsigned, 32) => vector::<WideMadU32>(),
        (true, Kind::Signed, 32) => vector::<WideMadS32>(),
        _ => return Err(unknown(inst)),
    };
    let double = Ty {
        bits: ty.bits * 2,
        ..ty
    };
    let types = [ty, ty, double];
    emit(
        cx,
        inst,
        exec,
        double,
        if mad { &types } else { &types[..2] },
    )
}

fn bits<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let mut mode = None;
    if matches!(inst.opcode, "mul24" | "mad24" | "shf" | "dp2a") {
        mode = modifiers.any(&["lo", "hi", "l", "r"]);
    }
    let clamp = modifiers.any(&["clamp", "wrap"]);
    let sat = inst.opcode == "mad24" && modifiers.flag("sat");
    let shift = inst.opcode == "bfind" && modifiers.flag("shiftamt");
    let permute = modifiers.any(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
    let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
    let second = if matches!(inst.opcode, "dp4a" | "dp2a") {
        modifiers.ty()
    } else {
        None
    };
    modifiers.finish(inst)?;
    if clamp.is_some() != matches!(inst.opcode, "shf" | "bmsk" | "szext")
        || permute.is_some() && inst.opcode != "prmt"
    {
        return Err(unknown(inst));
    }
    let signed = ty.kind == Kind::Signed;
    let b32 = ty.kind == Kind::Bits && ty.bits == 32 && ty.packed == 1;
    let b64 = ty.kind == Kind::Bits && ty.bits == 64;
    let int32 = matches!(ty.kind, Kind::Signed | Kind::Unsigned) && ty.bits == 32;
    let int64 = matches!(ty.kind, Kind::Signed | Kind::Unsigned) && ty.bits == 64;
    match inst.opcode {
        "popc" if b32 => emit(cx, inst, vector::<Popc32>(), U32, &[ty]),
        "popc" if b64 => emit(cx, inst, vector::<Popc64>(), U32, &[ty]),
        "clz" if b32 => emit(cx, inst, vector::<Clz32>(), U32, &[ty]),
        "clz" if b64 => emit(cx, inst, vector::<Clz64>(), U32, &[ty]),
        "brev" if b32 => emit(cx, inst, vector::<Brev32>(), ty, &[ty]),
        "brev" if b64 => emit(cx, inst, vector::<Brev64>(), ty, &[ty]),
        "bfe" if int32 => {
            let exec = if signed {
                vector::<BfeS32>()
            } else {
                vector::<BfeU32>()
            };
            emit(cx, inst, exec, ty, &[ty, U32, U32])
        }
        "bfe" if int64 => {
            let exec = if signed {
                vector::<BfeS64>()
            } else {
                vector::<BfeU64>()
            };
            emit(cx, inst, exec, ty, &[ty, U32, U32])
        }
        "bfi" if b32 || b64 => {
            expect_operands(inst, &[5])?;
            let d = cx.dst(&inst.operands[0], Width::of(ty))?;
            let (a, b) = (
                cx.src(&inst.operands[1], ty)?,
                cx.src(&inst.operands[2], ty)?,
            );
            let (start, length) = (
                cx.src(&inst.operands[3], U32)?,
                cx.src(&inst.operands[4], U32)?,
            );
            let list = cx.list(&[(length, false)]);
            let exec = if b32 {
                vector::<Bfi<u32>>()
            } else {
                vector::<Bfi<u64>>()
            };
            let lowered = cx.emit_untyped(exec, d, a, b, start);
            lowered.x = Link::List(list.0);
            lowered.list = list;
            Ok(())
        }
        "bfind" if int32 || int64 => {
            let exec = if int32 {
                vector::<Bfind32>()
            } else {
                vector::<Bfind64>()
            };
            with_x(
                cx,
                inst,
                exec,
                U32,
                &[ty],
                u32::from(signed) | u32::from(shift) << 1,
            )
        }
        "fns" if b32 => emit(cx, inst, scalar::<Fns>(), U32, &[U32, U32, U32]),
        "mul24" if int32 => {
            let exec = match (mode, signed) {
                (Some("lo"), false) => vector::<Mul24U>(),
                (Some("lo"), true) => vector::<Mul24S>(),
                (Some("hi"), false) => vector::<Mul24HiU>(),
                (Some("hi"), true) => vector::<Mul24HiS>(),
                _ => return Err(unknown(inst)),
            };
            emit(cx, inst, exec, ty, &[ty, ty])
        }
        "mad24" if int32 => {
            let exec = match (mode, signed, sat) {
                (Some("lo"), false, false) => vector::<Mad24U>(),
                (Some("lo"), true, false) => vector::<Mad24S>(),
                (Some("hi"), false, false) => vector::<Mad24HiU>(),
                (Some("hi"), true, false) => vector::<Mad24HiS>(),
                (Some("hi"), true, true) => vector::<Mad24HiSat>(),
                _ => return Err(unknown(inst)),
            };
            emit(cx, inst, exec, ty, &[ty, ty, ty])
        }
        "shf" if b32 => {
            let exec = match (mode, clamp) {
                (Some("l"), Some("wrap")) => vector::<ShfLeftWrap>(),
                (Some("l"), _) => vector::<ShfLeftClamp>(),
                (Some("r"), Some("wrap")) => vector::<ShfRightWrap>(),
                (Some("r"), _) => vector::<ShfRightClamp>(),
                _ => return Err(unknown(inst)),
            };
            emit(cx, inst, exec, ty, &[ty, ty, U32])
        }
        "prmt" if b32 => match permute {
            None => emit(cx, inst, vector::<PrmtDefault>(), ty, &[ty, ty, ty]),
            Some(name) => {
                let mode = numeric::Permute::parse(name).ok_or_else(|| unknown(inst))?;
                let x = PERMUTES
                    .iter()
                    .position(|&p| p == mode)
                    .ok_or_else(|| unknown(inst))?;
                with_x(cx, inst, scalar::<Prmt>(), ty, &[ty, ty, ty], x as u32)
            }
        },
        "dp4a" | "dp2a" if int32 => {
            let other =
                second.filter(|t| matches!(t.kind, Kind::Signed | Kind::Unsigned) && t.bits == 32);
            let other = other.ok_or_else(|| unknown(inst))?.kind == Kind::Signed;
            if inst.opcode == "dp2a" {
                let mode = mode
                    .filter(|m| matches!(*m, "lo" | "hi"))
                    .ok_or_else(|| unknown(inst))?;
                let x = u32::from(signed) | u32::from(other) << 1 | u32::from(mode == "hi") << 2;
                return with_x(cx, inst, scalar::<Dp2a>(), U32, &[U32; 3], x);
            }
            let exec = match (signed, other) {
                (false, false) => vector::<Dp4aUu>(),
                (false, true) => vector::<Dp4aUs>(),
                (true, false) => vector::<Dp4aSu>(),
                (true, true) => vector::<Dp4aSs>(),
            };
            emit(cx, inst, exec, U32, &[U32; 3])
        }
        "bmsk" if b32 => with_x(
            cx,
            inst,
            scalar::<Bmsk>(),
            ty,
            &[U32, U32],
            u32::from(clamp == Some("wrap")),
        ),
        "szext" if int32 => {
            let x = u32::from(signed) | u32::from(clamp == Some("wrap")) << 1;
            with_x(cx, inst, scalar::<Szext>(), ty, &[ty, U32], x)
        }
        "lop3" if b32 => {
            expect_operands(inst, &[5])?;
            let OperandKind::Int(table @ 0..=255) = inst.operands[4].kind else {
                return Err(Error::new(
                    inst.operands[4].at,
                    "expected a truth table from 0 to 255",
                ));
            };
            let d = cx.dst(&inst.operands[0], Width::W32)?;
            let mut fields = [Field::NONE; 3];
            for (index, field) in fields.iter_mut().enumerate() {
                *field = cx.src(&inst.operands[index + 1], ty)?;
            }
            cx.emit_untyped(vector::<Lop3>(), d, fields[0], fields[1], fields[2])
                .x = Link::Raw(table as u32);
            Ok(())
        }
        _ => Err(unknown(inst)),
    }
}

/// Emits an operation of [`by_x`]; missing operands repeat the first.
fn with_x<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    exec: Code,
    d: Ty,
    types: &[Ty],
    x: u32,
) -> Result<()> {
    expect_operands(inst, &[types.len() + 1])?;
    let destination = cx.dst(&inst.operands[0], Width::of(d))?;
    let first = cx.src(&inst.operands[1], types[0])?;
    let mut fields = [first; 3];
    for index in 1..types.len() {
        fields[index] = cx.src(&inst.operands[index + 1], types[index])?;
    }
    cx.emit_untyped(exec, destination, fields[0], fields[1], fields[2])
        .x = Link::Raw(x);
    Ok(())
}

fn carry<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let sets = modifiers.flag("cc");
    let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[3])?;
    let exec = carry_exec(ty).ok_or_else(|| unknown(inst))?;
    let d = cx.dst(&inst.operands[0], Width::of(ty))?;
    let (a, b) = (
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], ty)?,
    );
    let x = u32::from(inst.opcode.starts_with("sub"))
        | u32::from(inst.opcode.ends_with('c')) << 1
        | u32::from(sets) << 2;
    cx.emit_untyped(exec, d, a, b, Field::NONE).x = Link::Raw(x);
    Ok(())
}

fn carry_exec(ty: Ty) -> Option<Code> {
    match (ty.kind, ty.bits, ty.packed) {
        (Kind::Unsigned | Kind::Signed, 32, 1) => Some(scalar::<Carry<u32>>()),
        (Kind::Unsigned | Kind::Signed, 64, 1) => Some(scalar::<Carry<u64>>()),
        _ => None,
    }
}

/// `mad.cc` and `madc`: a product, then an addition with carry.
fn mad_carry<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let sets = modifiers.flag("cc");
    let high = modifiers.any(&["hi", "lo"]).ok_or_else(|| unknown(inst))? == "hi";
    let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[4])?;
    let add = carry_exec(ty).ok_or_else(|| unknown(inst))?;
    let product = match (high, ty.kind, ty.bits) {
        (false, _, 32) => vector::<MulLo<u32>>(),
        (false, ..) => vector::<MulLo<u64>>(),
        (true, Kind::Signed, 32) => vector::<MulHi<i32>>(),
        (true, Kind::Signed, _) => vector::<MulHi<i64>>(),
        (true, _, 32) => vector::<MulHi<u32>>(),
        (true, ..) => vector::<MulHi<u64>>(),
    };
    let d = cx.dst(&inst.operands[0], Width::of(ty))?;
    let (a, b) = (
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], ty)?,
    );
    let c = cx.src(&inst.operands[3], ty)?;
    let middle = Field::Register(cx.new_register(Width::of(ty)));
    cx.emit_untyped(product, middle, a, b, Field::NONE);
    let x = u32::from(inst.opcode == "madc") << 1 | u32::from(sets) << 2;
    cx.emit_untyped(add, d, middle, c, Field::NONE).x = Link::Raw(x);
    Ok(())
}
