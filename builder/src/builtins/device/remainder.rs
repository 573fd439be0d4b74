//! The exact remainder of a division of floating-point numbers, with the sign of the dividend: C's `fmod`, Rust's `%`.
//!
//! Both numbers are taken without their signs, `a` and `b`. If `a / b` is less than 2^STEP, one multiply-add gives the remainder:
//! the product of `a` and the reciprocal of `b` is off by so little that, rounded to the nearest integer `q`, it is the quotient or
//! the next integer above. So `a - q * b` is in `(-b, b)`; it is a multiple of the unit in the last place of `b`, so it has no more
//! digits than `b`, and a fused multiply-add gives it without rounding. If it is negative, `b` is added, exactly for the same reason.
//!
//! A larger quotient is found STEP bits at a time, as in a long division, with the mantissas as integral numbers.
//!
//! Nothing here depends on how subnormal numbers are treated, or on whether products and sums may be fused.

/// What differs between the two types.
macro_rules! remainder {
    (
        $name:ident, $float:ty, $bits:ty, $reciprocal:ident, $fused:ident,
        mantissa: $MANTISSA:literal, bias: $BIAS:literal, step: $STEP:literal, normal: $NORMAL:literal
    ) => {
        /// The remainder of `x / y`. Of an infinite `x` or a `y` of zero it is NaN.
        #[inline]
        pub fn $name(x: $float, y: $float) -> $float {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            const INFINITY: $bits = <$float>::INFINITY.to_bits();
            /// Numbers from 2^-NORMAL to 2^NORMAL: their reciprocals and the products here are normal numbers.
            const LOWEST: $bits = ($BIAS - $NORMAL) << $MANTISSA;
            const HIGHEST: $bits = ($BIAS + $NORMAL) << $MANTISSA;
            const HIDDEN: $bits = 1 << $MANTISSA;

            /// The remainder of `a / b`, if the quotient is less than 2^STEP; `inverse` is nearly the reciprocal of `b`.
            #[inline]
            fn step(a: $float, b: $float, inverse: $float) -> $float {
                // In this sum, the unit in the last place is 1.
                const TO_INTEGER: $float = (3 * (HIDDEN >> 1)) as $float;
                let quotient = $fused(a, inverse, TO_INTEGER) - TO_INTEGER;
                let rest = $fused(quotient, -b, a);
                if rest < 0.0 { rest + b } else { rest }
            }

            /// Mantissa with its highest bit set, and exponent, of a number that is not zero.
            #[inline]
            fn split(bits: $bits) -> ($bits, i32) {
                if bits >= HIDDEN {
                    return (bits & (HIDDEN - 1) | HIDDEN, (bits >> $MANTISSA) as i32);
                }
                let shift = bits.leading_zeros() - HIDDEN.leading_zeros();
                (bits << shift, 1 - shift as i32)
            }

            /// The number with this mantissa and this exponent; no bit is lost.
            #[inline]
            fn join(mantissa: $bits, exponent: i32) -> $bits {
                if mantissa == 0 {
                    return 0;
                }
                let shift = mantissa.leading_zeros() - HIDDEN.leading_zeros();
                let (mantissa, exponent) = (mantissa << shift, exponent - shift as i32);
                if exponent > 0 {
                    // The mantissa's highest bit adds one to the exponent.
                    (((exponent - 1) as $bits) << $MANTISSA) + mantissa
                } else {
                    mantissa >> (1 - exponent)
                }
            }

            /// Any two finite numbers, `b` not zero and not greater than `a`.
            fn long(a: $bits, b: $bits) -> $bits {
                let ((a, a_exponent), (b, exponent)) = (split(a), split(b));
                let mut rest = (if a >= b { a - b } else { a }) as $float;
                let divisor = b as $float;
                let inverse = $reciprocal(divisor);
                let mut left = a_exponent - exponent;
                while left > 0 {
                    let digits = left.min($STEP);
                    let scale = <$float>::from_bits((($BIAS + digits) as $bits) << $MANTISSA);
                    rest = step(rest * scale, divisor, inverse);
                    left -= digits;
                }
                join(rest as $bits, exponent)
            }

            let (a, b) = (x.to_bits() & !SIGN, y.to_bits() & !SIGN);
            let magnitude = if a < b && b <= INFINITY {
                a
            } else if b.wrapping_sub(LOWEST) <= HIGHEST - LOWEST && a - b <= $STEP << $MANTISSA {
                let (a, b) = (<$float>::from_bits(a), <$float>::from_bits(b));
                step(a, b, $reciprocal(b)).to_bits()
            } else if a >= INFINITY || b == 0 || b > INFINITY {
                return <$float>::NAN;
            } else {
                long(a, b)
            };
            <$float>::from_bits(magnitude | x.to_bits() & SIGN)
        }
    };
}

// The reciprocal is off by at most 2^-23 of itself, so the quotient by at most 1/8, before it is rounded to an integer.
remainder!(f32, f32, u32, reciprocal_f32, fused_f32, mantissa: 23, bias: 127, step: 20, normal: 100);
// The reciprocal is rounded to nearest: 2^-53.
remainder!(f64, f64, u64, reciprocal_f64, fused_f64, mantissa: 52, bias: 1023, step: 48, normal: 900);

#[cfg(target_arch = "nvptx64")]
fn reciprocal_f32(x: f32) -> f32 {
    let y;
    // SAFETY: an instruction that reads and writes registers only.
    unsafe {
        core::arch::asm!("rcp.approx.ftz.f32 {}, {};", out(reg32) y, in(reg32) x, options(pure, nomem, nostack))
    };
    y
}

#[cfg(target_arch = "nvptx64")]
fn fused_f32(a: f32, b: f32, c: f32) -> f32 {
    let d;
    // SAFETY: an instruction that reads and writes registers only.
    unsafe {
        core::arch::asm!("fma.rn.f32 {}, {}, {}, {};", out(reg32) d, in(reg32) a, in(reg32) b, in(reg32) c,
            options(pure, nomem, nostack))
    };
    d
}

#[cfg(target_arch = "nvptx64")]
fn fused_f64(a: f64, b: f64, c: f64) -> f64 {
    let d;
    // SAFETY: an instruction that reads and writes registers only.
    unsafe {
        core::arch::asm!("fma.rn.f64 {}, {}, {}, {};", out(reg64) d, in(reg64) a, in(reg64) b, in(reg64) c,
            options(pure, nomem, nostack))
    };
    d
}

fn reciprocal_f64(x: f64) -> f64 {
    1.0 / x
}

/// On the host, where it is tested, the worst that the GPU's instruction may give.
#[cfg(not(target_arch = "nvptx64"))]
fn reciprocal_f32(x: f32) -> f32 {
    let exact = (1.0 / x).to_bits();
    f32::from_bits(if x.to_bits() & 1 == 0 {
        exact + 1
    } else {
        exact - 1
    })
}

#[cfg(not(target_arch = "nvptx64"))]
fn fused_f32(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

#[cfg(not(target_arch = "nvptx64"))]
fn fused_f64(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}
