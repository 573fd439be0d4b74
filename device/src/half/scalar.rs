//! `HalfArithmetic`: the operations of one 16-bit float.

use super::arithmetic;
use half::{bf16, f16};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::f16 {}
    impl Sealed for super::bf16 {}
}

/// Hardware arithmetic of `f16` (sm_70) and [`bf16`] (sm_80).
///
/// PTX in the table for `f16`; for `bf16` the same with its type, except that below sm_90 addition, subtraction and
/// multiplication are `fma.rn.bf16` with a constant, and comparisons are done in `f32` (exact).
///
/// | method | PTX | CUDA C++ |
/// | --- | --- | --- |
/// | `hadd`, `hsub`, `hmul` | `add.rn.f16`, `sub.rn.f16`, `mul.rn.f16` | `__hadd`, `__hsub`, `__hmul` |
/// | `hfma` | `fma.rn.f16` | `__hfma` |
/// | `hfma_relu` | `fma.rn.relu.f16` (sm_80) | `__hfma_relu` |
/// | `hneg`, `habs` | `neg.f16`, `abs.f16` | `__hneg`, `__habs` |
/// | `hmin`, `hmax` | `min.f16`, `max.f16` (sm_80) | `__hmin`, `__hmax` |
/// | `heq`, `hne`, `hlt`, `hle`, `hgt`, `hge` | `setp.eq.f16`, ... | `__heq`, ... |
pub trait HalfArithmetic: sealed::Sealed + Copy {
    /// `self + other`.
    fn hadd(self, other: Self) -> Self;
    /// `self - other`.
    fn hsub(self, other: Self) -> Self;
    /// `self * other`.
    fn hmul(self, other: Self) -> Self;
    /// `self * factor + addend`, rounded once.
    fn hfma(self, factor: Self, addend: Self) -> Self;
    /// `max(self * factor + addend, 0)`, rounded once; a NaN becomes the canonical NaN. Arch: sm_80.
    fn hfma_relu(self, factor: Self, addend: Self) -> Self;
    /// `-self`.
    fn hneg(self) -> Self;
    /// `|self|`.
    fn habs(self) -> Self;
    /// The smaller; if one is a NaN, the other; `-0.0 < 0.0`. Arch: sm_80.
    fn hmin(self, other: Self) -> Self;
    /// The larger; if one is a NaN, the other; `-0.0 < 0.0`. Arch: sm_80.
    fn hmax(self, other: Self) -> Self;
    /// `self == other`; false with a NaN.
    fn heq(self, other: Self) -> bool;
    /// `self != other`, ordered: false with a NaN, unlike Rust's `!=`.
    fn hne(self, other: Self) -> bool;
    /// `self < other`; false with a NaN.
    fn hlt(self, other: Self) -> bool;
    /// `self <= other`; false with a NaN.
    fn hle(self, other: Self) -> bool;
    /// `self > other`; false with a NaN.
    fn hgt(self, other: Self) -> bool;
    /// `self >= other`; false with a NaN.
    fn hge(self, other: Self) -> bool;
    /// The value as `f32`, exactly. PTX: `cvt.f32.f16`; for `bf16` a shift.
    fn widen(self) -> f32;
}

macro_rules! operations {
    ($type:ident: $($method:ident($($operand:ident),*) $ptx:literal;)*) => {$(
        #[inline(always)]
        fn $method(self $(, $operand: Self)*) -> Self {
            $type::from_bits(arithmetic!(reg16, $ptx, self.to_bits() $(, $operand.to_bits())*))
        }
    )*};
}
macro_rules! comparisons {
    ($($method:ident $compare:literal;)*) => {$(
        #[inline(always)]
        fn $method(self, other: Self) -> bool {
            let result: u32;
            // SAFETY: arithmetic on registers.
            unsafe {
                instruction!(
                    "{{", ".reg .pred truth;", concat!("setp.", $compare, " truth, {a}, {b};"),
                    "selp.b32 {result}, 1, 0, truth;", "}}",
                    result = out(reg32) result, a = in(reg16) self.to_bits(), b = in(reg16) other.to_bits(),
                    options(pure, nomem, nostack),
                );
            }
            result != 0
        }
    )*};
}

#[cfg(not(warpsmith_arch_at_least = "90"))]
macro_rules! comparisons_in_f32 {
    ($($method:ident $compare:expr;)*) => {$(
        // `hne` is false for NaN, which `!=` is not.
        #[allow(clippy::double_comparisons)]
        #[inline(always)]
        fn $method(self, other: Self) -> bool {
            let compare: fn(f32, f32) -> bool = $compare;
            compare(self.widen(), other.widen())
        }
    )*};
}

impl HalfArithmetic for f16 {
    operations! { f16:
        hadd(other) "add.rn.f16";
        hsub(other) "sub.rn.f16";
        hmul(other) "mul.rn.f16";
        hfma(factor, addend) "fma.rn.f16";
        hneg() "neg.f16";
        habs() "abs.f16";
        hfma_relu(factor, addend) "fma.rn.relu.f16";
        hmin(other) "min.f16";
        hmax(other) "max.f16";
    }
    comparisons! {
        heq "eq.f16";
        hne "ne.f16";
        hlt "lt.f16";
        hle "le.f16";
        hgt "gt.f16";
        hge "ge.f16";
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        let result: f32;
        // SAFETY: arithmetic on registers.
        unsafe {
            instruction!("cvt.f32.f16 {result}, {a};", result = out(reg32) result, a = in(reg16) self.to_bits(),
                options(pure, nomem, nostack));
        }
        result
    }
}

impl HalfArithmetic for bf16 {
    #[cfg(warpsmith_arch_at_least = "90")]
    operations! { bf16:
        hadd(other) "add.rn.bf16";
        hsub(other) "sub.rn.bf16";
        hmul(other) "mul.rn.bf16";
    }
    // a + b = fma(a, 1, b); a - b = fma(b, -1, a); a * b = fma(a, b, -0): each is exact before its one rounding.
    #[cfg(not(warpsmith_arch_at_least = "90"))]
    #[inline(always)]
    fn hadd(self, other: Self) -> Self {
        self.hfma(bf16::ONE, other)
    }
    #[cfg(not(warpsmith_arch_at_least = "90"))]
    #[inline(always)]
    fn hsub(self, other: Self) -> Self {
        other.hfma(bf16::NEG_ONE, self)
    }
    #[cfg(not(warpsmith_arch_at_least = "90"))]
    #[inline(always)]
    fn hmul(self, other: Self) -> Self {
        self.hfma(other, bf16::NEG_ZERO)
    }
    operations! { bf16:
        hfma(factor, addend) "fma.rn.bf16";
        hfma_relu(factor, addend) "fma.rn.relu.bf16";
        hneg() "neg.bf16";
        habs() "abs.bf16";
        hmin(other) "min.bf16";
        hmax(other) "max.bf16";
    }
    #[cfg(warpsmith_arch_at_least = "90")]
    comparisons! {
        heq "eq.bf16";
        hne "ne.bf16";
        hlt "lt.bf16";
        hle "le.bf16";
        hgt "gt.bf16";
        hge "ge.bf16";
    }
    #[cfg(not(warpsmith_arch_at_least = "90"))]
    comparisons_in_f32! {
        heq |a, b| a == b;
        hne |a, b| a < b || a > b;
        hlt |a, b| a < b;
        hle |a, b| a <= b;
        hgt |a, b| a > b;
        hge |a, b| a >= b;
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}
