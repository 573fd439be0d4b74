//! `F16x2` and `Bf16x2`: two 16-bit floats in one register, computed by one instruction.

use super::arithmetic;
use core::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use half::{bf16, f16};

pair! {
    /// Two `f16`: CUDA's `half2`. Arch: sm_70.
    ///
    /// Aligned to 4 bytes; the low half comes first in memory. The operators `+`, `-`, `*` and unary `-` are one instruction.
    F16x2 of f16, "A pair of its halves. PTX: `mov.b32 {low, high}`. CUDA C++: `__halves2half2`.",
    |value| value.to_bits(), |bits| f16::from_bits(bits)
}
pair! {
    /// Two [`bf16`]: CUDA's `nv_bfloat162`. Arithmetic: sm_80.
    ///
    /// Aligned to 4 bytes; the low half comes first in memory. The operators `+`, `-`, `*` and unary `-` are one instruction.
    Bf16x2 of bf16, "A pair of its halves. PTX: `mov.b32 {low, high}`. CUDA C++: `__halves2bfloat162`.",
    |value| value.to_bits(), |bits| bf16::from_bits(bits)
}

macro_rules! assignments {
    ($pair:ident: $($trait:ident $method:ident $operator:tt;)*) => {$(
        impl $trait for $pair {
            #[inline(always)]
            fn $method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    )*};
}
assignments! { F16x2:
    AddAssign add_assign +;
    SubAssign sub_assign -;
    MulAssign mul_assign *;
}
assignments! { Bf16x2:
    AddAssign add_assign +;
    SubAssign sub_assign -;
    MulAssign mul_assign *;
}

/// `method(operands) "PTX";` each with its documentation.
macro_rules! methods {
    ($pair:ident: $($(#[$attribute:meta])* $method:ident($($operand:ident),*) $ptx:literal;)*) => {
        impl $pair {$(
            $(#[$attribute])*
            #[doc = concat!(" PTX: `", $ptx, "`.")]
            #[inline(always)]
            pub fn $method(self $(, $operand: Self)*) -> Self {
                Self(arithmetic!(reg32, $ptx, self.0 $(, $operand.0)*))
            }
        )*}
    };
}
macro_rules! operators {
    ($pair:ident: $($trait:ident $method:ident $ptx:literal;)*) => {$(
        impl $trait for $pair {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(arithmetic!(reg32, $ptx, self.0, other.0))
            }
        }
    )*};
}

operators! { F16x2:
    Add add "add.rn.f16x2";
    Sub sub "sub.rn.f16x2";
    Mul mul "mul.rn.f16x2";
}
methods! { F16x2:
    /// `self * factor + addend` per half, rounded once. CUDA C++: `__hfma2`.
    fma(factor, addend) "fma.rn.f16x2";
    /// The absolute values. CUDA C++: `__habs2`.
    abs() "abs.f16x2";
    /// `max(self * factor + addend, 0)` per half. CUDA C++: `__hfma2_relu`. Arch: sm_80.
    fma_relu(factor, addend) "fma.rn.relu.f16x2";
    /// The smaller per half; a NaN gives way. CUDA C++: `__hmin2`. Arch: sm_80.
    min(other) "min.f16x2";
    /// The larger per half; a NaN gives way. CUDA C++: `__hmax2`. Arch: sm_80.
    max(other) "max.f16x2";
}
impl Neg for F16x2 {
    type Output = Self;
    /// PTX: `neg.f16x2`.
    #[inline(always)]
    fn neg(self) -> Self {
        Self(arithmetic!(reg32, "neg.f16x2", self.0))
    }
}

#[cfg(warpsmith_arch_at_least = "90")]
operators! { Bf16x2:
    Add add "add.rn.bf16x2";
    Sub sub "sub.rn.bf16x2";
    Mul mul "mul.rn.bf16x2";
}
// Below sm_90: fma with a constant, exact before its one rounding.
#[cfg(not(warpsmith_arch_at_least = "90"))]
mod by_fma {
    use super::*;
    impl Add for Bf16x2 {
        type Output = Self;
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self.fma(Self::splat(bf16::ONE), other)
        }
    }
    impl Sub for Bf16x2 {
        type Output = Self;
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            other.fma(Self::splat(bf16::NEG_ONE), self)
        }
    }
    impl Mul for Bf16x2 {
        type Output = Self;
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            self.fma(other, Self::splat(bf16::NEG_ZERO))
        }
    }
}
methods! { Bf16x2:
    /// `self * factor + addend` per half, rounded once. CUDA C++: `__hfma2`.
    fma(factor, addend) "fma.rn.bf16x2";
    /// `max(self * factor + addend, 0)` per half. CUDA C++: `__hfma2_relu`.
    fma_relu(factor, addend) "fma.rn.relu.bf16x2";
    /// The absolute values. CUDA C++: `__habs2`.
    abs() "abs.bf16x2";
    /// The smaller per half; a NaN gives way. CUDA C++: `__hmin2`.
    min(other) "min.bf16x2";
    /// The larger per half; a NaN gives way. CUDA C++: `__hmax2`.
    max(other) "max.bf16x2";
}
impl Neg for Bf16x2 {
    type Output = Self;
    /// PTX: `neg.bf16x2`.
    #[inline(always)]
    fn neg(self) -> Self {
        Self(arithmetic!(reg32, "neg.bf16x2", self.0))
    }
}

impl F16x2 {
    /// The halves as `f32`. PTX: two `cvt.f32.f16`. CUDA C++: `__half22float2`.
    #[inline(always)]
    pub fn widen(self) -> [f32; 2] {
        use super::HalfArithmetic;
        [self.low().widen(), self.high().widen()]
    }

    /// Two `f32`, rounded to nearest even. PTX: `cvt.rn.f16x2.f32` from sm_80 on, before that two `cvt.rn.f16.f32`.
    /// CUDA C++: `__floats2half2_rn`.
    #[inline(always)]
    pub fn round_from(low: f32, high: f32) -> Self {
        #[cfg(warpsmith_arch_at_least = "80")]
        {
            Self(arithmetic!(reg32, "cvt.rn.f16x2.f32", high, low))
        }
        #[cfg(not(warpsmith_arch_at_least = "80"))]
        {
            use super::{Nearest, RoundFrom};
            Self::new(
                f16::round_from(low, Nearest),
                f16::round_from(high, Nearest),
            )
        }
    }
}

impl Bf16x2 {
    /// The halves as `f32`. PTX: `shl` and `and`. CUDA C++: `__bfloat1622float2`.
    #[inline(always)]
    pub fn widen(self) -> [f32; 2] {
        [
            f32::from_bits(self.0 << 16),
            f32::from_bits(self.0 & 0xffff_0000),
        ]
    }

    /// Two `f32`, rounded to nearest even. PTX: `cvt.rn.bf16x2.f32`. CUDA C++: `__floats2bfloat162_rn`.
    #[inline(always)]
    pub fn round_from(low: f32, high: f32) -> Self {
        Self(arithmetic!(reg32, "cvt.rn.bf16x2.f32", high, low))
    }
}
