//! Floating-point functions that `core` does not have: square root, rounding, fused multiply-add, the hardware's fast
//! approximations, and arithmetic with a chosen rounding direction.
//!
//! The methods come with the traits in the prelude. Those of [`FloatExt`] and [`FloatRounding`] are exact (IEEE), those of
//! [`FloatApprox`] are not, and say how far off they are. On the host the exact ones of [`FloatExt`] work too, with the
//! same results; the rest are the GPU's own.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

/// The exact functions that every platform has.
pub trait FloatExt: Copy {
    /// The square root, correctly rounded. Becomes `sqrt.rn` (with `approx_sqrt`, `sqrt.approx.f32`). Any arch.
    ///
    /// ```
    /// use warpsmith_device::float::FloatExt;
    /// assert_eq!(FloatExt::sqrt(2.25f32), 1.5);
    /// ```
    fn sqrt(self) -> Self;
    /// `self * a + b`, rounded once. Becomes `fma.rn`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::float::FloatExt;
    /// assert_eq!(FloatExt::mul_add(2.0f64, 3.0, 1.0), 7.0);
    /// ```
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The nearest integer below. Becomes `cvt.rmi`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::float::FloatExt;
    /// assert_eq!(FloatExt::floor(-1.5f32), -2.0);
    /// ```
    fn floor(self) -> Self;
    /// The nearest integer above. Becomes `cvt.rpi`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::float::FloatExt;
    /// assert_eq!(FloatExt::ceil(-1.5f32), -1.0);
    /// ```
    fn ceil(self) -> Self;
    /// The nearest integer towards zero. Becomes `cvt.rzi`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::float::FloatExt;
    /// assert_eq!(FloatExt::trunc(-1.5f32), -1.0);
    /// ```
    fn trunc(self) -> Self;
    /// The nearest integer, of two equally near ones the one farther from zero. Becomes a handful of instructions;
    /// [`round_ties_even`](Self::round_ties_even) is one. Any arch.
    ///
    /// ```
    /// use warpsmith_device::float::FloatExt;
    /// assert_eq!(FloatExt::round(2.5f32), 3.0);
    /// ```
    fn round(self) -> Self;
    /// The nearest integer, of two equally near ones the even one. Becomes `cvt.rni`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::float::FloatExt;
    /// assert_eq!(FloatExt::round_ties_even(2.5f32), 2.0);
    /// ```
    fn round_ties_even(self) -> Self;
    /// What is left after [`trunc`](Self::trunc). Any arch.
    ///
    /// ```
    /// use warpsmith_device::float::FloatExt;
    /// assert_eq!(FloatExt::fract(-1.5f32), -0.5);
    /// ```
    fn fract(self) -> Self;
}

/// On the host the standard library has them.
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

macro_rules! exact {
    ($($ty:ident)*) => {$(
        impl FloatExt for $ty {
            exact! { @ $ty: sqrt() floor() ceil() trunc() round() round_ties_even() }

            #[inline(always)]
            fn mul_add(self, a: $ty, b: $ty) -> $ty {
                #[cfg(target_arch = "nvptx64")]
                {
                    core::$ty::math::mul_add(self, a, b)
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    <$ty>::mul_add(self, a, b)
                }
            }

            #[inline(always)]
            fn fract(self) -> $ty {
                self - FloatExt::trunc(self)
            }
        }
    )*};
    (@ $ty:ident: $($name:ident())*) => {$(
        #[inline(always)]
        fn $name(self) -> $ty {
            #[cfg(target_arch = "nvptx64")]
            {
                core::$ty::math::$name(self)
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                <$ty>::$name(self)
            }
        }
    )*};
}
exact!(f32 f64);

/// An arithmetic instruction: no memory, no effects.
#[cfg(target_arch = "nvptx64")]
macro_rules! instruction {
    ($class:ident, $ty:ty, $ptx:expr, $a:expr) => {{
        let out: $ty;
        // SAFETY: arithmetic only.
        unsafe {
            asm!(concat!($ptx, " {}, {};"), lateout($class) out, in($class) $a, options(pure, nomem, nostack))
        };
        out
    }};
    ($class:ident, $ty:ty, $ptx:expr, $a:expr, $b:expr) => {{
        let out: $ty;
        // SAFETY: arithmetic only.
        unsafe {
            asm!(concat!($ptx, " {}, {}, {};"), lateout($class) out, in($class) $a, in($class) $b,
                options(pure, nomem, nostack))
        };
        out
    }};
    ($class:ident, $ty:ty, $ptx:expr, $a:expr, $b:expr, $c:expr) => {{
        let out: $ty;
        // SAFETY: arithmetic only.
        unsafe {
            asm!(concat!($ptx, " {}, {}, {}, {};"), lateout($class) out, in($class) $a, in($class) $b, in($class) $c,
                options(pure, nomem, nostack))
        };
        out
    }};
}

macro_rules! approximations {
    ($($(#[$documentation:meta])* $name:ident($($argument:ident),*) = $ptx:literal, $example:literal;)*) => {
        /// The hardware's approximations, for `f32`.
        pub trait FloatApprox: Copy {
            $(
                $(#[$documentation])*
                ///
                #[doc = concat!("Becomes `", $ptx, "`.")]
                ///
                /// ```no_run
                /// use warpsmith_device::float::FloatApprox;
                #[doc = concat!("let y: f32 = 1.5f32.", stringify!($name), $example, ";")]
                /// # let _ = y;
                /// ```
                fn $name(self, $($argument: Self),*) -> Self;
            )*

            /// e to the power of `self`: [`exp2_approx`](Self::exp2_approx) of `self * log2(e)`, CUDA C++'s `__expf()`. The error
            /// grows with the size of `self`: 2 + |1.173 x| units in the last place. Any arch.
            ///
            /// Becomes `mul.rn.f32`, `ex2.approx.f32`.
            ///
            /// ```no_run
            /// use warpsmith_device::float::FloatApprox;
            /// let y: f32 = 0.5f32.exp_approx();
            /// # let _ = y;
            /// ```
            fn exp_approx(self) -> Self;

            /// The natural logarithm: [`log2_approx`](Self::log2_approx) times `ln(2)`, CUDA C++'s `__logf()`. Any arch.
            ///
            /// Becomes `lg2.approx.f32`, `mul.rn.f32`.
            ///
            /// ```no_run
            /// use warpsmith_device::float::FloatApprox;
            /// let y: f32 = 0.5f32.ln_approx();
            /// # let _ = y;
            /// ```
            fn ln_approx(self) -> Self;
        }

        impl FloatApprox for f32 {
            $(
                #[inline(always)]
                fn $name(self, $($argument: f32),*) -> f32 {
                    on_device! { instruction!(reg32, f32, $ptx, self $(, $argument)*) }
                }
            )*

            #[inline(always)]
            fn exp_approx(self) -> f32 {
                (self * core::f32::consts::LOG2_E).exp2_approx()
            }

            #[inline(always)]
            fn ln_approx(self) -> f32 {
                self.log2_approx() * core::f32::consts::LN_2
            }
        }
    };
}

approximations! {
    /// `1 / sqrt(self)`, to 2 units in the last place: CUDA C++'s `rsqrtf()`. Any arch.
    rsqrt_approx() = "rsqrt.approx.f32", "()";
    /// The square root, to 1 unit in the last place. Any arch.
    sqrt_approx() = "sqrt.approx.f32", "()";
    /// `1 / self`, to 1 unit in the last place. Any arch.
    recip_approx() = "rcp.approx.f32", "()";
    /// `self / divisor`, to 2 units in the last place where the divisor's size is between 2^-126 and 2^126; 0 for larger
    /// ones: CUDA C++'s `__fdividef()`. Any arch.
    div_approx(divisor) = "div.approx.f32", "(2.0)";
    /// `self / divisor`, to 2 units in the last place, for all divisors. Any arch.
    div_full_approx(divisor) = "div.full.f32", "(2.0)";
    /// 2 to the power of `self`, to 2 units in the last place. Any arch.
    exp2_approx() = "ex2.approx.f32", "()";
    /// The logarithm to base 2, to 2^-22 between 0.5 and 2, to 2 units in the last place elsewhere: CUDA C++'s
    /// `__log2f()`. Any arch.
    log2_approx() = "lg2.approx.f32", "()";
    /// The sine, to 2^-20.9 between -pi and pi, and less outside: CUDA C++'s `__sinf()`. Any arch.
    sin_approx() = "sin.approx.f32", "()";
    /// The cosine, to 2^-20.9 between -pi and pi, and less outside: CUDA C++'s `__cosf()`. Any arch.
    cos_approx() = "cos.approx.f32", "()";
    /// The hyperbolic tangent, to a relative 2^-11. Arch: sm_75.
    tanh_approx() = "tanh.approx.f32", "()";
}

macro_rules! rounded {
    ($($direction:literal, $words:literal: $add:ident $sub:ident $mul:ident $div:ident $fma:ident $recip:ident $sqrt:ident;)*) => {
        /// Arithmetic with a chosen rounding direction, never fused with anything: `_rn` to nearest even, `_rz` towards
        /// zero, `_ru` up, `_rd` down (CUDA C++'s `__fadd_rz()` and its kin).
        ///
        /// ```no_run
        /// use warpsmith_device::float::FloatRounding;
        /// /// An interval that holds the exact sum.
        /// fn sum(a: f32, b: f32) -> (f32, f32) {
        ///     (a.add_rd(b), a.add_ru(b))
        /// }
        /// # sum(1.0, 2.0);
        /// ```
        pub trait FloatRounding: Copy {$(
            #[doc = concat!("The sum, rounded ", $words, ". Becomes `add.", $direction, "`. Any arch.")]
            fn $add(self, other: Self) -> Self;
            #[doc = concat!("The difference, rounded ", $words, ". Becomes `sub.", $direction, "`. Any arch.")]
            fn $sub(self, other: Self) -> Self;
            #[doc = concat!("The product, rounded ", $words, ". Becomes `mul.", $direction, "`. Any arch.")]
            fn $mul(self, other: Self) -> Self;
            #[doc = concat!("The quotient, rounded ", $words, ". Becomes `div.", $direction, "`. Any arch.")]
            fn $div(self, other: Self) -> Self;
            #[doc = concat!("`self * a + b`, rounded once ", $words, ". Becomes `fma.", $direction, "`. Any arch.")]
            fn $fma(self, a: Self, b: Self) -> Self;
            #[doc = concat!("`1 / self`, rounded ", $words, ". Becomes `rcp.", $direction, "`. Any arch.")]
            fn $recip(self) -> Self;
            #[doc = concat!("The square root, rounded ", $words, ". Becomes `sqrt.", $direction, "`. Any arch.")]
            fn $sqrt(self) -> Self;
        )*}

        rounded! { @ f32, reg32, ".f32": $($direction: $add $sub $mul $div $fma $recip $sqrt;)* }
        rounded! { @ f64, reg64, ".f64": $($direction: $add $sub $mul $div $fma $recip $sqrt;)* }
    };
    (@ $ty:ident, $class:ident, $suffix:literal:
     $($direction:literal: $add:ident $sub:ident $mul:ident $div:ident $fma:ident $recip:ident $sqrt:ident;)*) => {
        impl FloatRounding for $ty {$(
            #[inline(always)]
            fn $add(self, other: $ty) -> $ty {
                on_device! { instruction!($class, $ty, concat!("add.", $direction, $suffix), self, other) }
            }
            #[inline(always)]
            fn $sub(self, other: $ty) -> $ty {
                on_device! { instruction!($class, $ty, concat!("sub.", $direction, $suffix), self, other) }
            }
            #[inline(always)]
            fn $mul(self, other: $ty) -> $ty {
                on_device! { instruction!($class, $ty, concat!("mul.", $direction, $suffix), self, other) }
            }
            #[inline(always)]
            fn $div(self, other: $ty) -> $ty {
                on_device! { instruction!($class, $ty, concat!("div.", $direction, $suffix), self, other) }
            }
            #[inline(always)]
            fn $fma(self, a: $ty, b: $ty) -> $ty {
                on_device! { instruction!($class, $ty, concat!("fma.", $direction, $suffix), self, a, b) }
            }
            #[inline(always)]
            fn $recip(self) -> $ty {
                on_device! { instruction!($class, $ty, concat!("rcp.", $direction, $suffix), self) }
            }
            #[inline(always)]
            fn $sqrt(self) -> $ty {
                on_device! { instruction!($class, $ty, concat!("sqrt.", $direction, $suffix), self) }
            }
        )*}
    };
}

rounded! {
    "rn", "to nearest even": add_rn sub_rn mul_rn div_rn fma_rn recip_rn sqrt_rn;
    "rz", "towards zero": add_rz sub_rz mul_rz div_rz fma_rz recip_rz sqrt_rz;
    "rp", "up": add_ru sub_ru mul_ru div_ru fma_ru recip_ru sqrt_ru;
    "rm", "down": add_rd sub_rd mul_rd div_rd fma_rd recip_rd sqrt_rd;
}
