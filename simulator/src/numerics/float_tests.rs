//! Every fast path against the exact arithmetic of `soft`, and the hardware's rules at the edges.

use super::*;
use proptest::prelude::*;

const MODES: [Rounding; 4] = [
    Rounding::NearestEven,
    Rounding::Zero,
    Rounding::Down,
    Rounding::Up,
];

/// The exact operation, rounded by `soft`.
fn soft<F: Float>(operation: usize, a: F, b: F, c: F, rounding: Rounding) -> u64 {
    let [x, y, z] = [a, b, c].map(|v| F::FORMAT.decode(v.bits()));
    let exact = match operation {
        0 => x.add(y, rounding),
        1 => x.multiply(y),
        2 => x.multiply(y).add(z, rounding),
        3 => x.divide(y),
        _ => x.square_root(),
    };
    F::FORMAT.encode(exact, rounding, false)
}

fn fast<F: Float>(operation: usize, a: F, b: F, c: F, rounding: Rounding) -> u64 {
    let mode = Mode::rounded(rounding);
    match operation {
        0 => add(a, b, mode),
        1 => mul(a, b, mode),
        2 => fma(a, b, c, mode),
        3 => div(a, b, mode),
        _ => sqrt(a, mode),
    }
    .bits()
}

/// Bit patterns that favour the edges: subnormals, near-equal exponents, long runs of ones.
fn pattern(width: u32) -> impl Strategy<Value = u64> {
    let mask = u64::MAX >> (64 - width);
    prop_oneof![
        any::<u64>().prop_map(move |v| v & mask),
        (any::<u64>(), 0..width).prop_map(move |(v, s)| (v & mask) >> s),
        (any::<u64>(), 0..width).prop_map(move |(v, s)| !(v << s) & mask),
        (0..1u64 << 12, 0..width).prop_map(move |(v, s)| (v << s) & mask),
        ((mask >> 2) - 40..(mask >> 2) + 40),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(warpsmith_testkit::cases(6_000)) })]

    #[test]
    fn fast_paths_are_exact(
        f32s in [pattern(32), pattern(32), pattern(32)],
        halves in [pattern(16), pattern(16), pattern(16)],
        f64s in [pattern(64), pattern(64), pattern(64)],
        operation in 0usize..5,
    ) {
        let [a, b, c] = f32s.map(<f32 as Float>::from_raw);
        prop_assert_eq!(fast(operation, a, b, c, MODES[0]), soft(operation, a, b, c, MODES[0]), "{} {:e} {:e} {:e}", operation, a, b, c);
        let [a, b, c] = halves.map(<f16 as Float>::from_raw);
        prop_assert_eq!(fast(operation, a, b, c, MODES[0]), soft(operation, a, b, c, MODES[0]), "{} {:e} {:e} {:e}", operation, a, b, c);
        let [a, b, c] = halves.map(<bf16 as Float>::from_raw);
        prop_assert_eq!(fast(operation, a, b, c, MODES[0]), soft(operation, a, b, c, MODES[0]), "{} {:e} {:e} {:e}", operation, a, b, c);
        let [a, b, c] = f64s.map(<f64 as Float>::from_raw);
        let (x, y) = (fast(operation, a, b, c, MODES[0]), soft(operation, a, b, c, MODES[0]));
        prop_assert!(x == y || f64::from_bits(x).is_nan() && f64::from_bits(y).is_nan());
    }

    // covers: MATH-25
    // covers: MATH-26
    #[test]
    fn directed_roundings_enclose_the_nearest(
        bits in [pattern(64), pattern(64), pattern(64)],
        operation in 0usize..5,
    ) {
        fn check<F: Float>(bits: [u64; 3], operation: usize) -> Result<(), TestCaseError> {
            let [a, b, c] = bits.map(F::from_raw);
            let [near, zero, down, up] = MODES.map(|m| F::from_raw(fast(operation, a, b, c, m)));
            if near.nan() {
                prop_assert!(zero.nan() && down.nan() && up.nan());
                return Ok(());
            }
            prop_assert!(down <= near && near <= up);
            prop_assert!(near == down || near == up);
            let towards_zero = if down >= F::from_raw(0) { down } else { up };
            prop_assert!(zero == towards_zero);
            // Neighbours: the encodings of one sign are consecutive numbers.
            if down.bits() != up.bits() && near != F::from_raw(0) && down != F::from_raw(0) && up != F::from_raw(0) {
                prop_assert_eq!(down.bits().abs_diff(up.bits()), 1);
            }
            Ok(())
        }
        check::<f32>(bits.map(|v| v & 0xffff_ffff), operation)?;
        check::<f64>(bits, operation)?;
        check::<f16>(bits.map(|v| v & 0xffff), operation)?;
        check::<bf16>(bits.map(|v| v & 0xffff), operation)?;
    }
}

/// Each of the 65,536 values of f16 and bf16 in each unary operation, and in each binary one against a handful.
#[test]
fn all_sixteen_bit_values() {
    fn check<F: Float>() {
        let others = [
            0u64, 1, 0x3c00, 0x3f80, 0x4248, 0x8001, 0xc0ff, 0x7c00, 0x7f80, 0x7bff, 0x03ff, 0x0080,
        ];
        for bits in (0..0x1_0000u64).step_by(warpsmith_testkit::stride(0x1_0000)) {
            let a = F::from_raw(bits);
            for rounding in MODES {
                assert_eq!(
                    fast(4, a, a, a, rounding),
                    soft(4, a, a, a, rounding),
                    "sqrt {bits:#x} {rounding:?}"
                );
            }
            for b in others.map(F::from_raw) {
                for operation in 0..4 {
                    let rounding = MODES[0];
                    let found = fast(operation, a, b, a, rounding);
                    assert_eq!(
                        found,
                        soft(operation, a, b, a, rounding),
                        "{operation} {bits:#x} {:#x}",
                        b.bits()
                    );
                }
            }
        }
    }
    check::<f16>();
    check::<bf16>();
}

/// Rounding a half fma through f32 would be wrong here: the sum lies just above a tie that f32 cannot tell from a tie.
// covers: MATH-30
#[test]
fn half_fma_rounds_once() {
    let [a, b, c] = [0x3c01u64, 0x3c01, 0x0001].map(<f16 as Float>::from_raw);
    let once = fma(a, b, c, Mode::NEAREST);
    assert_eq!(once.bits(), soft(2, a, b, c, Rounding::NearestEven));
    // bf16: 2^7 + 2^-1 lies on a tie of bf16; a tiny addend decides, though f32 has no room for it.
    let tiny = bf16::from_f32(1e-30);
    let tie = fma(
        bf16::from_f32(128.0),
        bf16::ONE,
        bf16::from_f32(0.5),
        Mode::NEAREST,
    );
    assert_eq!(tie.to_f32(), 128.0);
    let product = fma(
        bf16::from_f32(8.5),
        bf16::from_f32(15.1875),
        tiny,
        Mode::NEAREST,
    ); // 129.09375
    assert_eq!(
        product.bits(),
        soft(
            2,
            bf16::from_f32(8.5),
            bf16::from_f32(15.1875),
            tiny,
            Rounding::NearestEven
        )
    );
}

// covers: MATH-19
#[test]
fn nan_results_are_canonical() {
    for payload in [0x7f80_0001u32, 0xffc0_0000, 0xffff_ffff, 0x7fc1_2345] {
        let nan = f32::from_bits(payload);
        for mode in MODES.map(Mode::rounded) {
            for result in [
                add(nan, 1.0, mode),
                sub(1.0, nan, mode),
                mul(nan, nan, mode),
                fma(1.0, 1.0, nan, mode),
                div(nan, 2.0, mode),
                sqrt(nan, mode),
                neg(nan, false),
                abs(nan, false),
            ] {
                assert_eq!(result.to_bits(), 0x7fff_ffff);
            }
        }
    }
    assert_eq!(
        sub(f32::INFINITY, f32::INFINITY, Mode::NEAREST).to_bits(),
        0x7fff_ffff
    );
    assert_eq!(sqrt(-1.0f32, Mode::NEAREST).to_bits(), 0x7fff_ffff);
    assert_eq!(
        add(f16::from_bits(0xfe01), f16::ONE, Mode::NEAREST).to_bits(),
        0x7fff
    );
    assert_eq!(
        mul(bf16::from_bits(0xff81), bf16::ONE, Mode::NEAREST).to_bits(),
        0x7fff
    );
}

// covers: MATH-20
#[test]
fn f64_nan_is_quieted_by_neg_and_abs() {
    for payload in [
        0x7ff8_0000_0000_1234u64,
        0xfff8_0000_0000_0001,
        0x7ff0_0000_0000_0001,
    ] {
        let nan = f64::from_bits(payload);
        assert_eq!(neg(nan, false).to_bits(), payload | 1 << 51);
        assert_eq!(abs(nan, false).to_bits(), payload | 1 << 51);
    }
    assert_eq!(neg(2.0f64, false), -2.0);
    assert_eq!(abs(-0.0f64, false).to_bits(), 0);
}

#[test]
fn flushing_and_clamping() {
    let tiny = f32::from_bits(1);
    let ftz = Mode {
        ftz: true,
        ..Mode::NEAREST
    };
    let sat = Mode {
        sat: true,
        ..Mode::NEAREST
    };
    assert_eq!(add(tiny, tiny, Mode::NEAREST).to_bits(), 2);
    assert_eq!(add(tiny, tiny, ftz).to_bits(), 0);
    assert_eq!(mul(f32::MIN_POSITIVE, -0.5, ftz).to_bits(), 0x8000_0000);
    assert_eq!(fma(-tiny, f32::MAX, 0.0, ftz).to_bits(), 0);
    assert_eq!(add(0.75, 0.5, sat), 1.0);
    assert_eq!(add(-0.75f32, 0.5, sat).to_bits(), 0);
    assert_eq!(add(f32::NAN, 0.5, sat).to_bits(), 0);
    assert_eq!(mul(-0.0f32, 1.0, sat).to_bits(), 0);
    assert_eq!(add(f16::from_f32(3.0), f16::ONE, sat), f16::ONE);
}

// covers: MATH-24
#[test]
fn atomic_add_flushes_only_f32_in_global_memory() {
    let tiny = f32::from_bits(3);
    assert_eq!(atomic_add(tiny, tiny, true), 0.0);
    assert_eq!(atomic_add(tiny, tiny, false).to_bits(), 6);
    assert_eq!(
        atomic_add(f64::from_bits(3), f64::from_bits(3), true).to_bits(),
        6
    );
    assert_eq!(
        atomic_add(f16::from_bits(3), f16::from_bits(3), true).to_bits(),
        6
    );
}

#[test]
fn atomic_add_of_nans() {
    let [one, signalling, quiet, other] = [
        0x3ff0_0000_0000_0000,
        0x7ff0_0000_0000_0001,
        0x7ff8_0000_0000_0001,
        0xfff0_0000_0000_0001,
    ]
    .map(f64::from_bits);
    let sum = |old, value, global| atomic_add::<f64>(old, value, global).to_bits();
    assert_eq!(sum(one, signalling, true), signalling.to_bits());
    assert_eq!(sum(signalling, one, true), signalling.to_bits());
    assert_eq!(sum(quiet, other, true), other.to_bits());
    assert_eq!(sum(one, signalling, false), quiet.to_bits());
    assert_eq!(sum(signalling, other, false), quiet.to_bits());
}

#[test]
fn packed_halves_do_not_mix() {
    let a = 0x3c00_0400; // (1, 2^-14)
    let b = 0x7bff_0400;
    let sum = packed::<f16, 2>([a, b], |[x, y]| add(x, y, Mode::NEAREST));
    assert_eq!(sum, 0x7bff_0800);
    assert_eq!(copysign(-1.0f32, 2.0), -2.0);
}
