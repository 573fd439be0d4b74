//! Floating-point arithmetic of f32 and f64. To nearest (with and without `.ftz`) it is vector code; the other roundings and
//! `.sat` go through [`numerics`](crate::numerics) lane by lane.

use super::lowering::emit_with;
use super::{lanewise, lanewise_with};
use crate::engine::exec::op::{Code, scalar, vector};
use crate::engine::exec::operand::{Encode, Value};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::ScalarKind;
use crate::numerics::Rounding;
use crate::numerics::float::{self as numeric, Float, Mode};

/// The smallest normal number of f32.
const SMALLEST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// f32 and f64 with the host's arithmetic.
pub(crate) trait Fast: Float + Value + Default {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn fma(self, b: Self, c: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// A product of operands without subnormals that is flushed where it is tiny before it is rounded.
    fn mul_flushed(self, other: Self) -> Self;
    /// A quotient likewise.
    fn div_flushed(self, other: Self) -> Self;
    /// `self * b + c` likewise.
    fn fma_flushed(self, b: Self, c: Self) -> Self;
    /// Results that are NaN get the hardware's encoding: of f64 the payload stays.
    fn clean(self) -> Self;
    /// Subnormals become zero.
    fn flushed(self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
}

/// Implements [`Fast`] for a type: `clean` and `flushed` are its own, and the bit of the sign.
macro_rules! fast {
    ($($ty:ident, $sign:expr, { $($own:item)* })*) => { $(impl Fast for $ty {
        #[inline(always)]
        fn div(self, other: $ty) -> $ty { self / other }
        #[inline(always)]
        fn neg(self) -> $ty {
            if self.is_nan() { self.clean() } else { $ty::from_bits(self.to_bits() ^ $sign) }
        }
        #[inline(always)]
        fn abs(self) -> $ty {
            if self.is_nan() { self.clean() } else { $ty::from_bits(self.to_bits() & !$sign) }
        }
        // The smaller; a number rather than a NaN; -0 is smaller than +0.
        #[inline(always)]
        fn min(self, other: $ty) -> $ty {
            let smaller = if other < self { other } else { self };
            let zeros = $ty::from_bits(self.to_bits() | other.to_bits());
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
        fn max(self, other: $ty) -> $ty {
            let larger = if other > self { other } else { self };
            let zeros = $ty::from_bits(self.to_bits() & other.to_bits());
            let both = if self == other { zeros } else { larger };
            if self.is_nan() {
                other.clean()
            } else if other.is_nan() {
                self
            } else {
                both
            }
        }
        $($own)*
    })* };
}
fast! {
    f32, 1 << 31, {
        #[inline(always)]
        fn add(self, other: f32) -> f32 { self + other }
        #[inline(always)]
        fn sub(self, other: f32) -> f32 { self - other }
        #[inline(always)]
        fn mul(self, other: f32) -> f32 { self * other }
        #[inline(always)]
        fn fma(self, b: f32, c: f32) -> f32 { self.mul_add(b, c) }
        // Products and scaled divisors are exact in f64.
        #[inline(always)]
        fn mul_flushed(self, other: f32) -> f32 {
            let product = self * other;
            let is_tiny = (f64::from(self) * f64::from(other)).abs() < SMALLEST_NORMAL;
            f32::from_bits(product.clean().to_bits() & if is_tiny { 0x8000_0000 } else { u32::MAX })
        }
        #[inline(always)]
        fn div_flushed(self, other: f32) -> f32 {
            let quotient = self / other;
            let is_tiny = f64::from(self).abs() < f64::from(other).abs() * SMALLEST_NORMAL;
            f32::from_bits(quotient.clean().to_bits() & if is_tiny { 0x8000_0000 } else { u32::MAX })
        }
        #[inline(always)]
        fn fma_flushed(self, b: f32, c: f32) -> f32 {
            let sum = self.mul_add(b, c).clean().flushed();
            let is_tiny = numeric::is_tiny_sum(f64::from(self) * f64::from(b), c.into(), SMALLEST_NORMAL);
            f32::from_bits(sum.to_bits() & if is_tiny { 0x8000_0000 } else { u32::MAX })
        }
        #[inline(always)]
        fn clean(self) -> f32 {
            if self.is_nan() { f32::from_bits(0x7FFF_FFFF) } else { self }
        }
        #[inline(always)]
        fn flushed(self) -> f32 {
            let bits = self.to_bits();
            f32::from_bits(if bits & 0x7F80_0000 == 0 { bits & 0x8000_0000 } else { bits })
        }
    }
    // Of two NaNs the second operand's counts, of three the second's, then the third's; the host would take another.
    f64, 1 << 63, {
        #[inline(always)]
        fn add(self, other: f64) -> f64 { if other.is_nan() { other } else { self + other } }
        #[inline(always)]
        fn sub(self, other: f64) -> f64 { if other.is_nan() { other } else { self - other } }
        #[inline(always)]
        fn mul(self, other: f64) -> f64 { if other.is_nan() { other } else { self * other } }
        #[inline(always)]
        fn fma(self, b: f64, c: f64) -> f64 {
            let result = if self.is_nan() { self } else { self.mul_add(b, c) };
            let result = if c.is_nan() { c } else { result };
            if b.is_nan() { b } else { result }
        }
        #[inline(always)]
        fn mul_flushed(self, other: f64) -> f64 { self.mul(other).clean() }
        #[inline(always)]
        fn div_flushed(self, other: f64) -> f64 { self.div(other).clean() }
        #[inline(always)]
        fn fma_flushed(self, b: f64, c: f64) -> f64 { self.fma(b, c).clean() }
        #[inline(always)]
        fn clean(self) -> f64 {
            if self.is_nan() { f64::from_bits(self.to_bits() | 1 << 51) } else { self }
        }
        #[inline(always)]
        fn flushed(self) -> f64 { self }
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
    MulFtz<T: Fast>(a: T, b: T) -> T { a.flushed().mul_flushed(b.flushed()) }
    FmaFtz<T: Fast>(a: T, b: T, c: T) -> T { a.flushed().fma_flushed(b.flushed(), c.flushed()) }
    DivFtz<T: Fast>(a: T, b: T) -> T { a.flushed().div_flushed(b.flushed()) }
    Min<T: Fast>(a: T, b: T) -> T { a.min(b) }
    Max<T: Fast>(a: T, b: T) -> T { a.max(b) }
    MinFtz<T: Fast>(a: T, b: T) -> T { a.flushed().min(b.flushed()) }
    MaxFtz<T: Fast>(a: T, b: T) -> T { a.flushed().max(b.flushed()) }
    Neg<T: Fast>(a: T) -> T { a.neg() }
    Abs<T: Fast>(a: T) -> T { a.abs() }
    NegFtz<T: Fast>(a: T) -> T { a.flushed().neg() }
    AbsFtz<T: Fast>(a: T) -> T { a.flushed().abs() }
}

// Any rounding, `.ftz` and `.sat`.
lanewise_with! {
    AddRounded<T: Fast>(a: T, b: T; mode: Mode) -> T { numeric::add(a, b, mode) }
    SubRounded<T: Fast>(a: T, b: T; mode: Mode) -> T { numeric::sub(a, b, mode) }
    MulRounded<T: Fast>(a: T, b: T; mode: Mode) -> T { numeric::mul(a, b, mode) }
    FmaRounded<T: Fast>(a: T, b: T, c: T; mode: Mode) -> T { numeric::fma(a, b, c, mode) }
    DivRounded<T: Fast>(a: T, b: T; mode: Mode) -> T { numeric::div(a, b, mode) }
}

/// The directions in the order of their numbers.
const ROUNDINGS: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::Zero,
    Rounding::Down,
    Rounding::Up,
];

impl Encode for Mode {
    #[inline(always)]
    fn encode(self) -> u32 {
        self.rounding as u32 | u32::from(self.ftz) << 3 | u32::from(self.sat) << 4
    }

    #[inline(always)]
    fn decode(word: u32) -> Mode {
        Mode {
            rounding: ROUNDINGS[(word & 7) as usize],
            ftz: word & 1 << 3 != 0,
            sat: word & 1 << 4 != 0,
        }
    }
}

/// The rounding modifier, if there is one.
pub(super) fn rounding(form: &FormReader<'_>) -> Option<Rounding> {
    form.next(Rounding::parse)
        .filter(|&(_, is_integral)| !is_integral)
        .map(|(direction, _)| direction)
}

pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let ty = form.ty()?;
    if ty.bits == 16 || ty.kind != ScalarKind::Float || ty.packed != 1 {
        return None;
    }
    let rounding = rounding(form);
    let ftz = form.has("ftz");
    let sat = form.has("sat");
    if ty.bits == 64 && (ftz || sat) {
        return None;
    }
    macro_rules! fast {
        ($plain:ident, $ftz:ident) => {
            match (ty.bits, ftz) {
                (32, false) => vector::<$plain<f32>>(),
                (32, true) => vector::<$ftz<f32>>(),
                _ => vector::<$plain<f64>>(),
            }
        };
    }
    macro_rules! rounded {
        ($operation:ident) => {
            if ty.bits == 32 {
                scalar::<$operation<f32>>()
            } else {
                scalar::<$operation<f64>>()
            }
        };
    }
    let nearest = matches!(rounding, None | Some(Rounding::NearestEven)) && !sat;
    let mode = Mode {
        rounding: rounding.unwrap_or(Rounding::NearestEven),
        ftz,
        sat,
    };
    let by_mode = Some(mode.encode());
    let rounded = rounding.is_some();
    let (code, sources, option): (Code, usize, Option<u32>) = match form.opcode() {
        "add" if nearest => (fast!(Add, AddFtz), 2, None),
        "sub" if nearest => (fast!(Sub, SubFtz), 2, None),
        "mul" if nearest => (fast!(Mul, MulFtz), 2, None),
        "fma" | "mad" if nearest && rounded => (fast!(Fma, FmaFtz), 3, None),
        "div" if nearest && rounded => (fast!(Div, DivFtz), 2, None),
        "add" => (rounded!(AddRounded), 2, by_mode),
        "sub" => (rounded!(SubRounded), 2, by_mode),
        "mul" => (rounded!(MulRounded), 2, by_mode),
        "fma" | "mad" if rounded => (rounded!(FmaRounded), 3, by_mode),
        "div" if rounded && !sat => (rounded!(DivRounded), 2, by_mode),
        "min" if !rounded && !sat => (fast!(Min, MinFtz), 2, None),
        "max" if !rounded && !sat => (fast!(Max, MaxFtz), 2, None),
        "neg" if !rounded && !sat => (fast!(Neg, NegFtz), 1, None),
        "abs" if !rounded && !sat => (fast!(Abs, AbsFtz), 1, None),
        _ => return None,
    };
    Some(emit_with(code, ty, &[ty; 3][..sources], option.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_survive_their_encoding() {
        for rounding in ROUNDINGS {
            for (ftz, sat) in [(false, false), (true, false), (false, true), (true, true)] {
                let mode = Mode { rounding, ftz, sat };
                assert_eq!(Mode::decode(mode.encode()), mode);
            }
        }
    }
}
