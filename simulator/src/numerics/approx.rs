//! The approximate functions: `ex2 lg2 sin cos tanh rsqrt rcp sqrt div` with `.approx` (and `.full`).
//!
//! A device computes these from tables whose bits are not published. Here each is computed in f64 and rounded once,
//! which lies inside every documented error bound; `ex2` of 16 bits is that of an H200, bit for bit. What else is
//! reproduced exactly are the special cases, including the ones in which the approximation is *wrong* on the device
//! (`div.approx` by a huge divisor, the f64 forms that look at the upper half of their operand only).

use super::float::{Float, Mode, bf16_from_f64, f16_from_f64};
use half::{bf16, f16};

/// Rounds an f64 result into a format to nearest, canonical NaN.
trait Narrow: Float {
    fn narrow(value: f64) -> Self;
}
impl Narrow for f32 {
    #[inline]
    fn narrow(value: f64) -> f32 {
        value as f32
    }
}
impl Narrow for f16 {
    #[inline]
    fn narrow(value: f64) -> f16 {
        f16_from_f64(value)
    }
}
impl Narrow for bf16 {
    #[inline]
    fn narrow(value: f64) -> bf16 {
        bf16_from_f64(value)
    }
}

#[inline]
fn unary<F: Narrow>(a: F, ftz: bool, function: impl Fn(f64) -> f64) -> F {
    F::narrow(function(a.flush(ftz).widen())).finish(Mode {
        ftz,
        ..Mode::NEAREST
    })
}

/// `ex2` of a format of 16 bits: the argument has 23 binary digits behind the point, the rest is cut, and so are the
/// digits of the result. So it is for every operand on an H200.
#[inline]
fn exp2_cut<F: Narrow>(a: F, ftz: bool) -> F {
    let digits = f64::from(1 << 23);
    let exact = ((a.flush(ftz).widen() * digits).trunc() / digits).exp2();
    let nearest = F::narrow(exact);
    let largest_exponent = 1 << (F::FORMAT.exponent_bits - 1);
    let is_in_range = exact < 2f64.powi(largest_exponent);
    let cut = match nearest.widen() > exact && is_in_range {
        true => F::from_raw(nearest.bits() - 1),
        false => nearest,
    };
    cut.finish(Mode {
        ftz,
        ..Mode::NEAREST
    })
}

/// The unary approximate functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `ex2`: two to the power.
    Exp2,
    /// `lg2`: logarithm to base two.
    Log2,
    /// `sin`
    Sin,
    /// `cos`
    Cos,
    /// `tanh`
    Tanh,
    /// `rsqrt`
    ReciprocalRoot,
    /// `rcp.approx`
    Reciprocal,
    /// `sqrt.approx`
    Root,
}

impl Function {
    #[inline]
    fn exact(self, x: f64) -> f64 {
        match self {
            Function::Exp2 => x.exp2(),
            Function::Log2 => x.abs().log2() + if x < 0.0 { f64::NAN } else { 0.0 },
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Tanh => x.tanh(),
            Function::ReciprocalRoot => 1.0 / x.sqrt(),
            Function::Reciprocal => 1.0 / x,
            Function::Root => x.sqrt(),
        }
    }

    /// On f32.
    #[inline]
    pub fn f32(self, a: f32, ftz: bool) -> f32 {
        unary(a, ftz, |x| self.exact(x))
    }

    /// On f16.
    #[inline]
    pub fn f16(self, a: f16, ftz: bool) -> f16 {
        match self {
            Function::Exp2 => exp2_cut(a, ftz),
            _ => unary(a, ftz, |x| self.exact(x)),
        }
    }

    /// On bf16.
    #[inline]
    pub fn bf16(self, a: bf16, ftz: bool) -> bf16 {
        match self {
            Function::Exp2 => exp2_cut(a, ftz),
            _ => unary(a, ftz, |x| self.exact(x)),
        }
    }

    /// On f64. With `ftz` (`rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`) only the upper 32 bits of the operand count, and
    /// the lower 32 bits of the result are zero.
    #[inline]
    pub fn f64(self, a: f64, ftz: bool) -> f64 {
        if !ftz {
            return self.exact(a);
        }
        let a = f64::from_bits(a.to_bits() & !0xffff_ffff).flush(true);
        let result = self.exact(a).flush(true);
        if result.is_nan() {
            f64::from_bits(0x7fff_ffff_0000_0000)
        } else {
            f64::from_bits(result.to_bits() & !0xffff_ffff)
        }
    }
}

/// `div.approx.f32`: `a` times an approximate reciprocal of `b`. The reciprocal of a divisor above 2^126 is flushed, so
/// the quotient is zero, and NaN for an infinite dividend.
#[inline]
pub fn div_approx(a: f32, b: f32, ftz: bool) -> f32 {
    let (a, b) = (a.flush(ftz), b.flush(ftz));
    let quotient = if b.abs() > f32::from_bits(0x7e80_0000) && b.is_finite() {
        a * f32::copysign(0.0, b)
    } else {
        (f64::from(a) / f64::from(b)) as f32
    };
    quotient.finish(Mode {
        ftz,
        ..Mode::NEAREST
    })
}

/// `div.full.f32`: right over the full range, though not correctly rounded on a device.
#[inline]
pub fn div_full(a: f32, b: f32, ftz: bool) -> f32 {
    super::float::div(
        a,
        b,
        Mode {
            ftz,
            ..Mode::NEAREST
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: MATH-28
    #[test]
    fn division_fails_where_the_device_fails() {
        let huge = 2f32.powi(127);
        assert_eq!(div_approx(1.0, huge, false), 0.0);
        assert_eq!(div_approx(1.0, -huge, false).to_bits(), 0x8000_0000);
        assert_eq!(
            div_approx(f32::INFINITY, huge, false).to_bits(),
            0x7fff_ffff
        );
        assert_eq!(div_full(1.0, huge, false), 2f32.powi(-127));
        assert_eq!(
            div_approx(3.0, 2f32.powi(126), false),
            3.0 * 2f32.powi(-126)
        );
        assert_eq!(div_approx(1.0, f32::INFINITY, false), 0.0);
        assert_eq!(div_approx(6.0, 3.0, false), 2.0);
        assert_eq!(div_approx(1.0, f32::from_bits(1), true), f32::INFINITY);
    }

    #[test]
    fn special_cases() {
        use Function::*;
        let (inf, nan) = (f32::INFINITY, 0x7fff_ffff);
        let table = [
            (Exp2, -inf, 0.0f32.to_bits()),
            (Exp2, inf, inf.to_bits()),
            (Exp2, 0.0, 1.0f32.to_bits()),
            (Exp2, -149.0, 1),
            (Log2, -1.0, nan),
            (Log2, -0.0, (-inf).to_bits()),
            (Log2, 1.0, 0),
            (Log2, 8.0, 3.0f32.to_bits()),
            (Log2, inf, inf.to_bits()),
            (Log2, f32::from_bits(1), (-149.0f32).to_bits()),
            (Sin, inf, nan),
            (Sin, -0.0, 0x8000_0000),
            (Cos, 0.0, 1.0f32.to_bits()),
            (Cos, -inf, nan),
            (Tanh, inf, 1.0f32.to_bits()),
            (Tanh, -0.0, 0x8000_0000),
            (ReciprocalRoot, -0.0, (-inf).to_bits()),
            (ReciprocalRoot, 0.0, inf.to_bits()),
            (ReciprocalRoot, inf, 0),
            (ReciprocalRoot, -2.0, nan),
            (Reciprocal, -0.0, (-inf).to_bits()),
            (Reciprocal, -inf, 0x8000_0000),
            (Root, -0.0, 0x8000_0000),
            (Root, -1.0, nan),
        ];
        for (function, x, bits) in table {
            assert_eq!(function.f32(x, false).to_bits(), bits, "{function:?} {x}");
        }
        for function in [Exp2, Log2, Sin, Cos, Tanh, ReciprocalRoot, Reciprocal, Root] {
            assert_eq!(function.f32(-f32::NAN, false).to_bits(), nan);
            assert_eq!(function.f16(f16::NAN, false).to_bits(), 0x7fff);
        }
        assert_eq!(Exp2.f32(-149.0, true), 0.0);
        assert_eq!(Log2.f32(f32::from_bits(1), true), f32::NEG_INFINITY);
        assert_eq!(Reciprocal.f64(3.0, true).to_bits() & 0xffff_ffff, 0);
        assert!((Reciprocal.f64(3.0, true) * 3.0 - 1.0).abs() < 1e-5);
        assert_eq!(Reciprocal.f64(f64::from_bits(5), true), f64::INFINITY);
        assert_eq!(Exp2.bf16(bf16::from_f32(3.0), true).to_f32(), 8.0);
    }

    #[test]
    fn powers_of_two_of_16_bits_are_cut() {
        // 2^-14.75 is 608.87 of the units that subnormal numbers have, 2^-23.25 is 1.68 of them; 2^-0.001 is just below
        // one.
        for (a, bits) in [
            (-14.75, 0x0260),
            (-23.25, 1),
            (0.75, 0x3eba),
            (-0.001, 0x3bfe),
            (0.001, 0x3c00),
            (15.992_187_5, 0x7bf4),
            (16.0, 0x7c00),
            (-24.0, 1),
            (-24.02, 0),
        ] {
            let found = Function::Exp2.f16(f16::from_f64(a), false).to_bits();
            assert_eq!(found, bits, "{a}: {found:#x}");
        }
        // The smallest numbers are cut from the argument, and 2^0 is one.
        let smallest = f16::from_bits(0x8001);
        assert_eq!(Function::Exp2.f16(smallest, false).to_bits(), 0x3c00);
        let next = f16::from_bits(0x8002);
        assert_eq!(Function::Exp2.f16(next, false).to_bits(), 0x3bff);
        let found = |bits| Function::Exp2.bf16(bf16::from_bits(bits), true).to_bits();
        assert_eq!([found(0x42ff), found(0x4300)], [0x7f35, 0x7f80]);
        assert_eq!([found(0xc2fd), found(0xb3ff)], [0, 0x3f80]);
    }

    // covers: MATH-27
    #[test]
    fn within_the_documented_bounds() {
        for i in (0..20_000).step_by(warpsmith_testkit::stride(20_000)) {
            let x = i as f32 * 3.1e-4 + 1e-3; // up to 2 pi
            assert!(
                (Function::Sin.f32(x, false) as f64 - (x as f64).sin()).abs() < 2f64.powf(-20.5)
            );
            assert!(
                (Function::Cos.f32(x, false) as f64 - (x as f64).cos()).abs() < 2f64.powf(-20.5)
            );
            let exact = (x as f64).exp2();
            assert!((Function::Exp2.f32(x, false) as f64 / exact - 1.0).abs() < 2f64.powi(-22));
            let exact = (x as f64).sqrt();
            assert!(
                (Function::ReciprocalRoot.f32(x, false) as f64 * exact - 1.0).abs()
                    < 2f64.powf(-22.9)
            );
        }
    }
}
