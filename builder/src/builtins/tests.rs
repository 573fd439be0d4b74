//! The device functions on the host, against the host's own arithmetic.

#[path = "device/remainder.rs"]
mod remainder;

use std::fmt::LowerExp;

use warpsmith_testkit::Random;

fn check<T: Copy + LowerExp, B: PartialEq>(x: T, y: T, got: (T, B, bool), expected: (T, B, bool)) {
    let same = got.1 == expected.1 || got.2 && expected.2;
    assert!(same, "{x:e} % {y:e} is {:e}, not {:e}", got.0, expected.0);
}

fn check_f32(x: f32, y: f32) {
    let seen = |r: f32| (r, r.to_bits(), r.is_nan());
    check(x, y, seen(remainder::f32(x, y)), seen(x % y));
}

fn check_f64(x: f64, y: f64) {
    let seen = |r: f64| (r, r.to_bits(), r.is_nan());
    check(x, y, seen(remainder::f64(x, y)), seen(x % y));
}

// covers: MATH-13
#[test]
fn remainders_of_every_pair_of_exponents() {
    let mut random = Random::new(13);
    let mut next = || random.bits();
    for x_exponent in 0..256 {
        for y_exponent in 0..256 {
            for mantissas in [
                [0, 0],
                [0x7F_FFFF, 0],
                [0, 0x7F_FFFF],
                [1, 0x7F_FFFE],
                [next(), next()],
            ] {
                let number = |exponent: u32, mantissa: u64| {
                    f32::from_bits(exponent << 23 | mantissa as u32 & 0x7F_FFFF)
                };
                let (x, y) = (
                    number(x_exponent, mantissas[0]),
                    number(y_exponent, mantissas[1]),
                );
                check_f32(x, y);
                check_f32(-x, y);
            }
        }
    }
    for x_exponent in (0..2048).step_by(5).chain([1, 2046, 2047]) {
        for y_exponent in (0..2048).step_by(7).chain([1, 2046, 2047]) {
            for mantissas in [[0, 0], [u64::MAX, 0], [1, u64::MAX], [next(), next()]] {
                let number = |exponent: u64, mantissa: u64| {
                    f64::from_bits(exponent << 52 | mantissa & ((1 << 52) - 1))
                };
                let (x, y) = (
                    number(x_exponent, mantissas[0]),
                    number(y_exponent, mantissas[1]),
                );
                check_f64(x, y);
                check_f64(x, -y);
            }
        }
    }
}

// covers: MATH-13
#[test]
fn remainders_of_close_numbers_subnormals_and_exact_multiples() {
    let mut random = Random::new(13);
    let mut next = || random.bits();
    for _ in 0..200_000 {
        let (a, b) = (next(), next());
        let x = f32::from_bits((a >> 33) as u32);
        check_f32(
            x,
            f32::from_bits(x.to_bits().saturating_sub((b % (30 << 23)) as u32)),
        );
        check_f32(x, f32::from_bits(b as u32 & 0xFF_FFFF));
        let (m, n) = ((a & 0xFFF) as f32, (b & 0xFFF) as f32);
        check_f32(m * n, n);
        check_f32((m * n).next_down(), n);
        check_f32((m * n).next_up(), -n);

        let x = f64::from_bits(a >> 1);
        check_f64(
            x,
            f64::from_bits(x.to_bits().saturating_sub(b % (60 << 52))),
        );
        check_f64(x, f64::from_bits(b >> 11));
        let (m, n) = ((a & 0xFFF_FFFF) as f64, (b & 0x1FF_FFFF) as f64);
        check_f64(m * n, n);
        check_f64((m * n).next_down(), n);
        check_f64((m * n).next_up(), -n);
    }
}
