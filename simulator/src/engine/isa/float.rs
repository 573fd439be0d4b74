//! Floating-point arithmetic of f32 and f64. To nearest (with and without `.ftz`) it is vector code; the other roundings and
//! `.sat` go through [`numerics`](crate::numerics) lane by lane.

use super::lanewise;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{LANES, lanes_of, put, src};
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::level::Code;
use crate::engine::exec::level::{Level, scalar, vector};
use crate::engine::exec::operand::Value;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::numerics::Rounding;
use crate::numerics::float::{self as numeric, Float, Mode};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// f32 and f64 with the host's arithmetic.
pub(crate) trait Fast: Float + Value + Default {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn fma(self, b: Self, c: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// Results that are NaN get the hardware's encoding.
    fn clean(self) -> Self;
    /// Subnormals become zero.
    fn flushed(self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
}

impl Fast for f32 {
    #[inline(always)]
    fn add(self, other: f32) -> f32 {
        self + other
    }
    #[inline(always)]
    fn sub(self, other: f32) -> f32 {
        self - other
    }
    #[inline(always)]
    fn mul(self, other: f32) -> f32 {
        self * other
    }
    #[inline(always)]
    fn fma(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }
    #[inline(always)]
    fn div(self, other: f32) -> f32 {
        self / other
    }
    #[inline(always)]
    fn clean(self) -> f32 {
        if self.is_nan() {
            f32::from_bits(0x7FFF_FFFF)
        } else {
            self
        }
    }
    #[inline(always)]
    fn flushed(self) -> f32 {
        let bits = self.to_bits();
        f32::from_bits(if bits & 0x7F80_0000 == 0 {
            bits & 0x8000_0000
        } else {
            bits
        })
    }
    #[inline(always)]
    fn neg(self) -> f32 {
        f32::from_bits(self.to_bits() ^ 0x8000_0000).clean()
    }
    #[inline(always)]
    fn abs(self) -> f32 {
        f32::from_bits(self.to_bits() & 0x7FFF_FFFF).clean()
    }
    // The smaller; a number rather than a NaN; -0 is smaller than +0.
    #[inline(always)]
    fn min(self, other: f32) -> f32 {
        let smaller = if other < self { other } else { self };
        let zeros = f32::from_bits(self.to_bits() | other.to_bits());
        let both = if self == other { zeros } else { smaller };
        if self.is_nan() {
            other.clean()
        } else if other.is_nan() {
            self
        } else {
            both
        }
    }
    #[inline(always)]
    fn max(self, other: f32) -> f32 {
        let larger = if other > self { other } else { self };
        let zeros = f32::from_bits(self.to_bits() & other.to_bits());
        let both = if self == other { zeros } else { larger };
        if self.is_nan() {
            other.clean()
        } else if other.is_nan() {
            self
        } else {
            both
        }
    }
}

impl Fast for f64 {
    #[inline(always)]
    fn add(self, other: f64) -> f64 {
        self + other
    }
    #[inline(always)]
    fn sub(self, other: f64) -> f64 {
        self - other
    }
    #[inline(always)]
    fn mul(self, other: f64) -> f64 {
        self * other
    }
    #[inline(always)]
    fn fma(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }
    #[inline(always)]
    fn div(self, other: f64) -> f64 {
        self / other
    }
    #[inline(always)]
    fn clean(self) -> f64 {
        self
    }
    #[inline(always)]
    fn flushed(self) -> f64 {
        self
    }
    #[inline(always)]
    fn neg(self) -> f64 {
        f64::from_bits(self.to_bits() ^ 1 << 63)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::from_bits(self.to_bits() & !(1 << 63))
    }
    #[inline(always)]
    fn min(self, other: f64) -> f64 {
        let smaller = if other < self { other } else { self };
        let zeros = f64::from_bits(self.to_bits() | other.to_bits());
        let both = if self == other { zeros } else { smaller };
        if self.is_nan() {
            other
        } else if other.is_nan() {
            self
        } else {
            both
        }
    }
    #[inline(always)]
    fn max(self, other: f64) -> f64 {
        let larger = if other > self { other } else { self };
        let zeros = f64::from_bits(self.to_bits() & other.to_bits());
        let both = if self == other { zeros } else { larger };
        if self.is_nan() {
            other
        } else if other.is_nan() {
            self
        } else {
            both
        }
    }
}

lanewise! {
    Add<T: Fast>(a: T, b: T) -> T { a.add(b).clean() }
    Sub<T: Fast>(a: T, b: T) -> T { a.sub(b).clean() }
    Mul<T: Fast>(a: T, b: T) -> T { a.mul(b).clean() }
    Fma<T: Fast>(a: T, b: T, c: T) -> T { a.fma(b, c).clean() }
    Div<T: Fast>(a: T, b: T) -> T { a.div(b).clean() }
    AddFtz<T: Fast>(a: T, b: T) -> T { a.flushed().add(b.flushed()).clean().flushed() }
    SubFtz<T: Fast>(a: T, b: T) -> T { a.flushed().sub(b.flushed()).clean().flushed() }
    MulFtz<T: Fast>(a: T, b: T) -> T { a.flushed().mul(b.flushed()).clean().flushed() }
    FmaFtz<T: Fast>(a: T, b: T, c: T) -> T { a.flushed().fma(b.flushed(), c.flushed()).clean().flushed() }
    DivFtz<T: Fast>(a: T, b: T) -> T { a.flushed().div(b.flushed()).clean().flushed() }
    Min<T: Fast>(a: T, b: T) -> T { a.min(b) }
    Max<T: Fast>(a: T, b: T) -> T { a.max(b) }
    MinFtz<T: Fast>(a: T, b: T) -> T { a.flushed().min(b.flushed()) }
    MaxFtz<T: Fast>(a: T, b: T) -> T { a.flushed().max(b.flushed()) }
    Neg<T: Fast>(a: T) -> T { a.neg() }
    Abs<T: Fast>(a: T) -> T { a.abs() }
    NegFtz<T: Fast>(a: T) -> T { a.flushed().neg() }
    AbsFtz<T: Fast>(a: T) -> T { a.flushed().abs() }
}

/// Any rounding, `.ftz` and `.sat`, from `x`.
struct General<F, const OPERATION: u8>(std::marker::PhantomData<F>);

const ADD: u8 = 0;
const SUB: u8 = 1;
const MUL: u8 = 2;
const FMA: u8 = 3;
const DIV: u8 = 4;

/// A mode as a number, and back.
pub(crate) fn encode(mode: Mode) -> u32 {
    let rounding = match mode.rounding {
        Rounding::NearestEven => 0,
        Rounding::Zero => 1,
        Rounding::Down => 2,
        Rounding::Up => 3,
        Rounding::NearestAway => 4,
    };
    rounding | u32::from(mode.ftz) << 3 | u32::from(mode.sat) << 4
}

/// The mode of a number made by [`encode`].
pub(crate) fn decode(x: u32) -> Mode {
    let rounding = match x & 7 {
        0 => Rounding::NearestEven,
        1 => Rounding::Zero,
        2 => Rounding::Down,
        3 => Rounding::Up,
        _ => Rounding::NearestAway,
    };
    Mode {
        rounding,
        ftz: x & 8 != 0,
        sat: x & 16 != 0,
    }
}

impl<F: Float + Default, const OPERATION: u8> WordsOp for General<F, OPERATION> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let mode = decode(inst.x);
        // SAFETY: the lowering gave the operands this type's width; an unused third repeats the first.
        unsafe {
            let (a, b, c) = (
                src::<F>(warp, inst.a),
                src::<F>(warp, inst.b),
                src::<F>(warp, inst.c),
            );
            let mut result = [F::default(); LANES];
            for lane in lanes_of(warp.mask) {
                let (a, b, c) = (a[lane], b[lane], c[lane]);
                result[lane] = match OPERATION {
                    ADD => numeric::add(a, b, mode),
                    SUB => numeric::sub(a, b, mode),
                    MUL => numeric::mul(a, b, mode),
                    FMA => numeric::fma(a, b, c, mode),
                    _ => numeric::div(a, b, mode),
                };
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// The rounding modifier, if there is one.
pub(crate) fn rounding(modifiers: &mut Modifiers) -> Option<Rounding> {
    Some(match modifiers.any(&["rn", "rz", "rm", "rp"])? {
        "rn" => Rounding::NearestEven,
        "rz" => Rounding::Zero,
        "rm" => Rounding::Down,
        _ => Rounding::Up,
    })
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
    if ty.bits == 16 || ty.kind != Kind::Float || ty.packed != 1 {
        return Err(unknown(inst));
    }
    let rounding = rounding(&mut modifiers);
    let ftz = ty.bits == 32 && modifiers.flag("ftz");
    let sat = ty.bits == 32 && modifiers.flag("sat");
    modifiers.finish(inst)?;
    macro_rules! fast {
        ($plain:ident, $ftz:ident) => {
            match (ty.bits, ftz) {
                (32, false) => vector::<$plain<f32>>(),
                (32, true) => vector::<$ftz<f32>>(),
                _ => vector::<$plain<f64>>(),
            }
        };
    }
    macro_rules! general {
        ($operation:ident) => {
            if ty.bits == 32 {
                scalar::<General<f32, $operation>>()
            } else {
                scalar::<General<f64, $operation>>()
            }
        };
    }
    let nearest = matches!(rounding, None | Some(Rounding::NearestEven)) && !sat;
    let rounded = rounding.is_some();
    let (exec, count): (Code, usize) = match inst.opcode {
        "add" if nearest => (fast!(Add, AddFtz), 2),
        "sub" if nearest => (fast!(Sub, SubFtz), 2),
        "mul" if nearest => (fast!(Mul, MulFtz), 2),
        "fma" | "mad" if nearest && rounded => (fast!(Fma, FmaFtz), 3),
        "div" if nearest && rounded => (fast!(Div, DivFtz), 2),
        "add" => (general!(ADD), 2),
        "sub" => (general!(SUB), 2),
        "mul" => (general!(MUL), 2),
        "fma" | "mad" if rounded => (general!(FMA), 3),
        "div" if rounded && !sat => (general!(DIV), 2),
        "min" if !rounded && !sat => (fast!(Min, MinFtz), 2),
        "max" if !rounded && !sat => (fast!(Max, MaxFtz), 2),
        "neg" if !rounded && !sat => (fast!(Neg, NegFtz), 1),
        "abs" if !rounded && !sat => (fast!(Abs, AbsFtz), 1),
        _ => return Err(unknown(inst)),
    };
    expect_operands(inst, &[count + 1])?;
    let d = cx.dst(&inst.operands[0], Width::of(ty))?;
    let first = cx.src(&inst.operands[1], ty)?;
    let mut fields = [first; 3];
    for index in 1..count {
        fields[index] = cx.src(&inst.operands[index + 1], ty)?;
    }
    let mode = Mode {
        rounding: rounding.unwrap_or(Rounding::NearestEven),
        ftz,
        sat,
    };
    let lowered = cx.emit_untyped(exec, d, fields[0], fields[1], fields[2]);
    lowered.x = Link::Raw(encode(mode));
    if count < 3 {
        lowered.c = if nearest { Field::NONE } else { fields[0] };
    }
    Ok(())
}
