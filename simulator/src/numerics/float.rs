//! `add sub mul fma div sqrt rcp neg abs copysign` for f16, bf16, f32 and f64: one rounding, any direction, with `.ftz` and
//! `.sat`.
//!
//! [`Float`] is the seam between a format and the host: rounded to nearest, f32 and f64 use the host's arithmetic, and
//! f16 and bf16 use the host's f64 with a final rounding that cannot be doubled (f64 is rounded *to odd* wherever the
//! intermediate is inexact, which keeps what the last rounding needs). Everything else goes through [`soft`](super::soft).

use super::Rounding;
use super::soft::{BF16, F16, F32, F64, Format};
use half::{bf16, f16};

/// How an arithmetic instruction rounds and what it does at the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// The direction.
    pub rounding: Rounding,
    /// `.ftz`: subnormal operands and results become zeros of the same sign.
    pub ftz: bool,
    /// `.sat`: the result is clamped to 0 ..= 1, NaN becomes 0.
    pub sat: bool,
}

impl Mode {
    /// To nearest, subnormals kept, no clamping.
    pub const NEAREST: Mode = Mode::rounded(Rounding::NearestEven);

    /// The given direction, subnormals kept, no clamping.
    pub const fn rounded(rounding: Rounding) -> Mode {
        Mode {
            rounding,
            ftz: false,
            sat: false,
        }
    }
}

/// A floating-point type of PTX.
pub trait Float: Copy + PartialOrd {
    /// Its encoding.
    const FORMAT: Format;
    /// The encoding, zero-extended.
    fn bits(self) -> u64;
    /// From an encoding.
    fn from_raw(bits: u64) -> Self;
    /// The exact value as an f64.
    fn widen(self) -> f64;
    /// `a + b` to nearest.
    fn nearest_add(a: Self, b: Self) -> Self;
    /// `a * b` to nearest.
    fn nearest_mul(a: Self, b: Self) -> Self;
    /// `a * b + c` to nearest, rounded once.
    fn nearest_fma(a: Self, b: Self, c: Self) -> Self;
    /// `a / b` to nearest.
    fn nearest_div(a: Self, b: Self) -> Self;
    /// The square root to nearest.
    fn nearest_sqrt(a: Self) -> Self;

    /// Whether the value is not a number.
    fn nan(self) -> bool;

    /// The value itself; instead of a NaN the canonical one, but of f64 that NaN with its quiet bit.
    ///
    /// Chosen between integers: which NaN a float holds is LLVM's to choose, so that it leaves out a choice between the NaN that an
    /// operation had and another (rustc 1.95 does, behind `sqrt`, in some divisions of the crate into units).
    #[inline]
    fn canonical(self) -> Self {
        let bits = self.bits();
        let magnitude = bits & !sign::<Self>();
        Self::from_raw(if magnitude <= Self::FORMAT.infinity(false) {
            bits
        } else if Self::FORMAT.fraction_bits == 52 {
            bits | 1 << 51
        } else {
            Self::FORMAT.nan()
        })
    }

    /// The value with its sign flipped; a NaN of f64 keeps its sign.
    #[inline]
    fn negate(self) -> Self {
        if self.nan() {
            self.canonical()
        } else {
            Self::from_raw(self.bits() ^ sign::<Self>())
        }
    }

    /// The magnitude; a NaN of f64 keeps its sign.
    #[inline]
    fn magnitude(self) -> Self {
        if self.nan() {
            self.canonical()
        } else {
            Self::from_raw(self.bits() & !sign::<Self>())
        }
    }

    /// Whether the value is subnormal.
    #[inline]
    fn subnormal(self) -> bool {
        let magnitude = self.bits() & !sign::<Self>();
        magnitude != 0 && magnitude >> Self::FORMAT.fraction_bits == 0
    }

    /// The value, or if it is subnormal and `ftz` is set, a zero of its sign.
    #[inline]
    fn flush(self, ftz: bool) -> Self {
        if ftz && self.subnormal() {
            Self::from_raw(self.bits() & sign::<Self>())
        } else {
            self
        }
    }

    /// The value clamped to 0 ..= 1; NaN and -0 become +0.
    #[inline]
    fn saturate(self) -> Self {
        let (zero, one) = (Self::from_raw(0), Self::from_raw(one::<Self>()));
        if self > one {
            one
        } else if self > zero {
            self
        } else {
            zero
        }
    }

    /// What every result goes through: the canonical NaN, flushing, clamping.
    #[inline]
    fn finish(self, mode: Mode) -> Self {
        let value = self.canonical().flush(mode.ftz);
        if mode.sat { value.saturate() } else { value }
    }
}

#[inline]
const fn sign<F: Float>() -> u64 {
    1 << (F::FORMAT.exponent_bits + F::FORMAT.fraction_bits)
}

#[inline]
const fn one<F: Float>() -> u64 {
    ((1 << (F::FORMAT.exponent_bits - 1)) - 1) << F::FORMAT.fraction_bits
}

/// `a + b`, rounded to odd: an inexact sum ends in a one bit. A later rounding to two or more bits fewer then gives what a
/// single rounding of the exact sum would.
#[inline]
pub fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let virtual_b = sum - a;
    let error = (a - (sum - virtual_b)) + (b - virtual_b);
    if error == 0.0 || !error.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let bits = sum.to_bits();
    f64::from_bits(if (error > 0.0) == (sum > 0.0) {
        bits + 1
    } else {
        bits - 1
    })
}

/// An f64 as an f32, rounded to odd.
#[inline]
pub fn odd_f32(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || value.is_nan() || near.to_bits() & 1 == 1 {
        return near;
    }
    let bits = near.to_bits();
    f32::from_bits(if value.abs() > back.abs() {
        bits + 1
    } else {
        bits - 1
    })
}

/// An f64 as an f16, to nearest, rounded once.
#[inline]
pub fn f16_from_f64(value: f64) -> f16 {
    f16::from_f32(odd_f32(value))
}

/// An f64 as a bf16, to nearest, rounded once.
#[inline]
pub fn bf16_from_f64(value: f64) -> bf16 {
    bf16::from_f32(odd_f32(value))
}

impl Float for f32 {
    const FORMAT: Format = F32;
    #[inline]
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    #[inline]
    fn nan(self) -> bool {
        self.is_nan()
    }
    #[inline]
    fn from_raw(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    #[inline]
    fn widen(self) -> f64 {
        self.into()
    }
    #[inline]
    fn nearest_add(a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline]
    fn nearest_mul(a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline]
    fn nearest_fma(a: f32, b: f32, c: f32) -> f32 {
        // The product of two f32 is exact in f64.
        odd_sum(f64::from(a) * f64::from(b), c.into()) as f32
    }
    #[inline]
    fn nearest_div(a: f32, b: f32) -> f32 {
        a / b
    }
    #[inline]
    fn nearest_sqrt(a: f32) -> f32 {
        a.sqrt()
    }
}

impl Float for f64 {
    const FORMAT: Format = F64;
    #[inline]
    fn bits(self) -> u64 {
        self.to_bits()
    }
    #[inline]
    fn nan(self) -> bool {
        self.is_nan()
    }
    #[inline]
    fn from_raw(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    #[inline]
    fn widen(self) -> f64 {
        self
    }
    #[inline]
    fn nearest_add(a: f64, b: f64) -> f64 {
        // Of two NaNs the second operand's counts.
        if b.is_nan() { b } else { a + b }
    }
    #[inline]
    fn nearest_mul(a: f64, b: f64) -> f64 {
        if b.is_nan() { b } else { a * b }
    }
    #[inline]
    fn nearest_fma(a: f64, b: f64, c: f64) -> f64 {
        // Of several NaNs the first of b, c, a counts.
        match (a.is_nan(), b.is_nan(), c.is_nan()) {
            (_, true, _) => b,
            (_, false, true) => c,
            (true, false, false) => a,
            _ => a.mul_add(b, c),
        }
    }
    #[inline]
    fn nearest_div(a: f64, b: f64) -> f64 {
        a / b
    }
    #[inline]
    fn nearest_sqrt(a: f64) -> f64 {
        a.sqrt()
    }
}

/// f16 and bf16 compute in f64: their products are exact there, sums are rounded to odd, and quotients and roots have
/// more than twice their bits, so that the second rounding is the only one that counts.
macro_rules! through_f64 {
    ($type:ty, $format:expr, $narrow:path) => {
        impl Float for $type {
            const FORMAT: Format = $format;
            #[inline]
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
            #[inline]
            fn nan(self) -> bool {
                self.is_nan()
            }
            #[inline]
            fn from_raw(bits: u64) -> $type {
                <$type>::from_bits(bits as u16)
            }
            #[inline]
            fn widen(self) -> f64 {
                f64::from(self.to_f32())
            }
            #[inline]
            fn nearest_add(a: $type, b: $type) -> $type {
                $narrow(odd_sum(a.widen(), b.widen()))
            }
            #[inline]
            fn nearest_mul(a: $type, b: $type) -> $type {
                $narrow(a.widen() * b.widen())
            }
            #[inline]
            fn nearest_fma(a: $type, b: $type, c: $type) -> $type {
                $narrow(odd_sum(a.widen() * b.widen(), c.widen()))
            }
            #[inline]
            fn nearest_div(a: $type, b: $type) -> $type {
                $narrow(a.widen() / b.widen())
            }
            #[inline]
            fn nearest_sqrt(a: $type) -> $type {
                $narrow(a.widen().sqrt())
            }
        }
    };
}
through_f64!(f16, F16, f16_from_f64);
through_f64!(bf16, BF16, bf16_from_f64);

/// Whether the host's rounding is the wanted one.
#[inline]
fn nearest(mode: Mode) -> bool {
    mode.rounding == Rounding::NearestEven
}

/// A zero, if a result is so small before it is rounded that `.ftz` flushes it: the exact result counts, even where that would be
/// rounded to the smallest normal number.
#[inline]
fn flushed<F: Float>(mode: Mode, is_negative: bool, is_tiny: impl Fn(f64) -> bool) -> Option<F> {
    let smallest_normal = || f64::from_bits(((1024 - F::FORMAT.bias()) as u64) << 52);
    let sign = if is_negative { sign::<F>() } else { 0 };
    (mode.ftz && is_tiny(smallest_normal())).then(|| F::from_raw(sign).finish(mode))
}

/// Whether the exact sum of these is not zero and its magnitude below `least`.
#[inline(always)]
pub fn is_tiny_sum(a: f64, b: f64, least: f64) -> bool {
    let sum = a + b;
    // What rounding took away: the sum may have been rounded up to `least`.
    let rounded_b = sum - a;
    let rest = (a - (sum - rounded_b)) + (b - rounded_b);
    let size = sum.abs();
    size != 0.0 && (size < least) | (size == least) & (rest * sum < 0.0)
}

/// `add`.
#[inline]
pub fn add<F: Float>(a: F, b: F, mode: Mode) -> F {
    let (a, b) = (a.flush(mode.ftz), b.flush(mode.ftz));
    let sum = if nearest(mode) || a.nan() || b.nan() {
        F::nearest_add(a, b)
    } else {
        let exact = F::FORMAT
            .decode(a.bits())
            .add(F::FORMAT.decode(b.bits()), mode.rounding);
        F::from_raw(F::FORMAT.encode(exact, mode.rounding, false))
    };
    sum.finish(mode)
}

/// `sub`.
#[inline]
pub fn sub<F: Float>(a: F, b: F, mode: Mode) -> F {
    // A NaN keeps its sign.
    let negated = if b.nan() { b } else { b.negate() };
    add(a, negated, mode)
}

/// `mul`.
#[inline]
pub fn mul<F: Float>(a: F, b: F, mode: Mode) -> F {
    let (a, b) = (a.flush(mode.ftz), b.flush(mode.ftz));
    // Exact in f64: no format with `.ftz` has more than 24 digits.
    let exact = a.widen() * b.widen();
    if let Some(zero) = flushed(mode, exact.is_sign_negative(), |least| exact.abs() < least) {
        return zero;
    }
    let product = if nearest(mode) || a.nan() || b.nan() {
        F::nearest_mul(a, b)
    } else {
        let exact = F::FORMAT
            .decode(a.bits())
            .multiply(F::FORMAT.decode(b.bits()));
        F::from_raw(F::FORMAT.encode(exact, mode.rounding, false))
    };
    product.finish(mode)
}

/// `fma`, and `mad` on floating point.
#[inline]
pub fn fma<F: Float>(a: F, b: F, c: F, mode: Mode) -> F {
    let (a, b, c) = (a.flush(mode.ftz), b.flush(mode.ftz), c.flush(mode.ftz));
    // Exact in f64: no format with `.ftz` has more than 24 digits.
    let (product, addend) = (a.widen() * b.widen(), c.widen());
    let is_tiny = |least| is_tiny_sum(product, addend, least);
    if let Some(zero) = flushed(mode, product + addend < 0.0, is_tiny) {
        return zero;
    }
    let result = if nearest(mode) || a.nan() || b.nan() || c.nan() {
        F::nearest_fma(a, b, c)
    } else {
        let product = F::FORMAT
            .decode(a.bits())
            .multiply(F::FORMAT.decode(b.bits()));
        let exact = product.add(F::FORMAT.decode(c.bits()), mode.rounding);
        F::from_raw(F::FORMAT.encode(exact, mode.rounding, false))
    };
    result.finish(mode)
}

/// The NaN of 16 bits that a tensor copy writes where there is nothing to copy, without its sign.
const OUT_OF_BOUNDS: u64 = 0x7ff7;

/// `fma.oob` of f16 and bf16: a product with what is out of bounds makes the result zero.
#[inline]
pub fn fma_oob<F: Float>(a: F, b: F, c: F, mode: Mode) -> F {
    let is_outside = |factor: F| factor.bits() & !sign::<F>() == OUT_OF_BOUNDS;
    if is_outside(a) || is_outside(b) {
        F::from_raw(0)
    } else {
        fma(a, b, c, mode)
    }
}

/// `div` with a rounding, and `rcp` as `div(1, x)`.
#[inline]
pub fn div<F: Float>(a: F, b: F, mode: Mode) -> F {
    let (a, b) = (a.flush(mode.ftz), b.flush(mode.ftz));
    let (dividend, divisor) = (a.widen(), b.widen());
    let is_negative = dividend.is_sign_negative() != divisor.is_sign_negative();
    let is_tiny = |least| dividend.abs() < divisor.abs() * least;
    if let Some(zero) = flushed(mode, is_negative, is_tiny) {
        return zero;
    }
    let quotient = if nearest(mode) || a.nan() || b.nan() {
        F::nearest_div(a, b)
    } else {
        let exact = F::FORMAT
            .decode(a.bits())
            .divide(F::FORMAT.decode(b.bits()));
        F::from_raw(F::FORMAT.encode(exact, mode.rounding, false))
    };
    quotient.finish(mode)
}

/// `rcp` with a rounding.
#[inline]
pub fn rcp<F: Float>(a: F, mode: Mode) -> F {
    div(F::from_raw(one::<F>()), a, mode)
}

/// `sqrt` with a rounding.
#[inline]
pub fn sqrt<F: Float>(a: F, mode: Mode) -> F {
    let a = a.flush(mode.ftz);
    let root = if nearest(mode) || a.nan() {
        F::nearest_sqrt(a)
    } else {
        let exact = F::FORMAT.decode(a.bits()).square_root();
        F::from_raw(F::FORMAT.encode(exact, mode.rounding, false))
    };
    root.finish(mode)
}

/// `neg`.
#[inline]
pub fn neg<F: Float>(a: F, ftz: bool) -> F {
    a.flush(ftz).negate()
}

/// `abs`.
#[inline]
pub fn abs<F: Float>(a: F, ftz: bool) -> F {
    a.flush(ftz).magnitude()
}

/// `copysign`: the sign of `a` with the magnitude of `b`, bit for bit.
#[inline]
pub fn copysign<F: Float>(a: F, b: F) -> F {
    F::from_raw(a.bits() & sign::<F>() | b.bits() & !sign::<F>())
}

/// The old value `old` and `value` added as `atom.add` and `red.add` do: to nearest. f32 in global memory flushes
/// subnormals whatever the module says, f32 in shared memory and all other formats never do.
///
/// An f64 NaN in global memory comes out bit for bit, of two that of `value`; in shared memory it is quieted, of two that of `old`
/// (recorded on an H200, where shared memory is updated by an exchange in a loop).
#[inline]
pub fn atomic_add<F: Float>(old: F, value: F, global: bool) -> F {
    let ftz = global && F::FORMAT == F32;
    if global
        && F::FORMAT == F64
        && let Some(nan) = [value, old].into_iter().find(|operand| operand.nan())
    {
        return nan;
    }
    // `add` answers the second of two NaNs.
    add(
        value,
        old,
        Mode {
            rounding: Rounding::NearestEven,
            ftz,
            sat: false,
        },
    )
}

/// Applies an operation to both halves of packed 16-bit values.
#[inline]
pub fn packed<F: Float, const N: usize>(
    operands: [u32; N],
    operation: impl Fn([F; N]) -> F,
) -> u32 {
    let low = operation(operands.map(|v| F::from_raw((v & 0xffff).into()))).bits();
    let high = operation(operands.map(|v| F::from_raw((v >> 16).into()))).bits();
    low as u32 | (high as u32) << 16
}

#[cfg(test)]
#[path = "float_tests.rs"]
mod tests;
