//! `cvt`, type by type.

use super::*;
use Scalar::*;
use proptest::prelude::*;

const NEAREST: Rounding = Rounding::NearestEven;
const MODES: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::Zero,
    Rounding::Down,
    Rounding::Up,
];
const INTEGERS: [Scalar; 8] = [U8, U16, U32, U64, S8, S16, S32, S64];
const FLOATS: [Scalar; 5] = [F16, Bf16, Tf32, F32, F64];

fn convert(to: Scalar, from: Scalar, bits: u64) -> u64 {
    Conversion::new(to, from, NEAREST).apply(bits)
}

/// The edges that the raw instruction has and Rust's `as` hides.
// covers: MATH-21
#[test]
fn float_to_integer_at_the_edges() {
    let two = f32::powi;
    for to in INTEGERS {
        let (lowest, highest) = to.range();
        let cvt = |v: f32| Conversion::new(to, F32, Rounding::Zero).apply(v.bits());
        let wide = |v: f64| Conversion::new(to, F64, Rounding::Zero).apply(v.bits());
        let as_bits = |v: i128| Conversion::new(to, S64, NEAREST).as_destination(v);
        assert_eq!(cvt(f32::INFINITY), as_bits(highest));
        assert_eq!(cvt(f32::NEG_INFINITY), as_bits(lowest));
        assert_eq!(wide(1e300), as_bits(highest));
        assert_eq!(wide(-1e300), as_bits(lowest));
        for value in [
            two(2.0, 31),
            -two(2.0, 31),
            two(2.0, 32),
            two(2.0, 63),
            -1.0,
            0.9,
            -0.9,
        ] {
            assert_eq!(
                cvt(value),
                as_bits((value as i128).clamp(lowest, highest)),
                "{to:?} {value}"
            );
            assert_eq!(wide(value.into()), cvt(value));
        }
        let top = as_bits(1 << (to.width() - 1));
        assert_eq!(cvt(f32::NAN), if to.width() == 64 { top } else { 0 });
        assert_eq!(wide(f64::NAN), top);
        let half = Conversion::new(to, F16, Rounding::Zero).apply(0x7e00);
        assert_eq!(half, if to.width() == 64 { top } else { 0 });
    }
}

#[test]
fn float_to_integer_rounds_in_each_direction() {
    let expected = [
        (2.5f32, [2, 3, 2, 2, 3]),
        (-2.5, [-2, -3, -2, -3, -2]),
        (0.49999997, [0, 0, 0, 0, 1]),
        (-0.75, [-1, -1, 0, -1, 0]),
        (3.0, [3, 3, 3, 3, 3]),
    ];
    for (value, results) in expected {
        for (mode, result) in MODES.into_iter().zip(results) {
            assert_eq!(
                Conversion::new(S32, F32, mode).apply(value.bits()) as i64,
                result,
                "{value} {mode:?}"
            );
            let whole = Conversion {
                integral: true,
                ..Conversion::new(F32, F32, mode)
            };
            assert_eq!(
                f32::from_raw(whole.apply(value.bits())),
                result as f32,
                "{value} {mode:?}"
            );
        }
    }
    let whole = Conversion {
        integral: true,
        ..Conversion::new(F64, F64, Rounding::Up)
    };
    assert_eq!(whole.apply((-0.5f64).bits()), (-0.0f64).bits());
    assert_eq!(f64::from_raw(whole.apply(1e300f64.bits())), 1e300);
    assert_eq!(
        f64::from_raw(whole.apply(f64::NEG_INFINITY.bits())),
        f64::NEG_INFINITY
    );
}

#[test]
fn integers_truncate_extend_and_clamp() {
    assert_eq!(convert(U8, S32, (-1i32) as u32 as u64), 0xff);
    assert_eq!(convert(S8, U32, 0x180) as i64, -128);
    assert_eq!(convert(S64, S32, 0x8000_0000) as i64, i64::from(i32::MIN));
    assert_eq!(convert(U64, U32, 0xdead_beef_8000_0000), 0x8000_0000);
    assert_eq!(convert(U64, S32, 0x8000_0000), 0xffff_ffff_8000_0000);
    let sat = |to, from, bits| {
        Conversion {
            sat: true,
            ..Conversion::new(to, from, NEAREST)
        }
        .apply(bits)
    };
    assert_eq!(sat(U8, S32, (-5i32) as u32 as u64), 0);
    assert_eq!(sat(U8, S32, 300), 255);
    assert_eq!(sat(S8, S32, 300), 127);
    assert_eq!(sat(S16, S64, i64::MIN as u64) as i64, -32768);
    assert_eq!(sat(S32, U32, 0xffff_ffff), 0x7fff_ffff);
}

/// Widening any 16-bit float and narrowing it again gives it back, in every mode and through every wider type.
#[test]
fn sixteen_bit_floats_round_trip() {
    for bits in (0..0x1_0000u64).step_by(warpsmith_testkit::stride(0x1_0000)) {
        for (small, nan) in [
            (F16, f16::from_raw(bits).nan()),
            (Bf16, bf16::from_raw(bits).nan()),
        ] {
            for wide in [F32, F64] {
                let up = convert(wide, small, bits);
                // To and from f64 a NaN keeps its sign and payload, and gets its quiet bit.
                let quiet = 1 << (small.format().unwrap().fraction_bits - 1);
                let expected = match (nan, wide) {
                    (true, F64) => bits | quiet,
                    (true, _) => 0x7fff,
                    (false, _) => bits,
                };
                for mode in MODES {
                    let back = Conversion::new(small, wide, mode).apply(up);
                    assert_eq!(back, expected, "{small:?} {wide:?} {bits:#x}");
                }
            }
        }
    }
    assert_eq!(convert(F32, F16, 0xfe01), 0x7fff_ffff);
    assert_eq!(convert(F32, F16, 1), (2f32.powi(-24)).bits());
}

#[test]
fn saturation_relu_and_flushing() {
    let sat = Conversion {
        sat: true,
        ..Conversion::new(F32, F32, NEAREST)
    };
    for (value, result) in [
        (1.5f32, 1.0f32),
        (-0.5, 0.0),
        (f32::NAN, 0.0),
        (0.25, 0.25),
        (f32::INFINITY, 1.0),
    ] {
        assert_eq!(sat.apply(value.bits()), result.bits());
    }
    let relu = Conversion {
        relu: true,
        ..Conversion::new(F16, F32, NEAREST)
    };
    assert_eq!(relu.apply((-3.0f32).bits()), 0);
    assert_eq!(relu.apply(3.0f32.bits()), f16::from_f32(3.0).bits());
    assert_eq!(relu.apply(f32::NAN.bits()), 0x7fff);
    let ftz = Conversion {
        ftz: true,
        ..Conversion::new(F32, F64, NEAREST)
    };
    assert_eq!(ftz.apply((-1e-40f64).bits()), 0x8000_0000);
    let ftz = Conversion {
        ftz: true,
        ..Conversion::new(S32, F32, Rounding::Up)
    };
    assert_eq!(ftz.apply(1), 0);
    assert_eq!(Conversion { ftz: false, ..ftz }.apply(1), 1);
    let finite = Conversion {
        satfinite: true,
        ..Conversion::new(E4m3, F32, NEAREST)
    };
    assert_eq!(finite.apply(1e9f32.bits()), 0x7e);
    assert_eq!(finite.apply(f32::NAN.bits()), 0x7f);
    assert_eq!(finite.apply((-f32::INFINITY).bits()), 0xfe);
}

// covers: WMMA-09
#[test]
fn tf32_rounds_ties_away() {
    let cvt = Conversion::new(Tf32, F32, Rounding::NearestAway);
    assert_eq!(cvt.apply(0x3f80_1000), 0x3f80_2000);
    assert_eq!(cvt.apply(0x3f80_0fff), 0x3f80_0000);
    assert_eq!(cvt.apply(0xbf80_1000), 0xbf80_2000);
    assert_eq!(cvt.apply(0x7f7f_ffff), 0x7f80_0000);
    // NaNs are rounded like numbers.
    assert_eq!(cvt.apply(0xffc0_0001), 0xffc0_0000);
    assert_eq!(cvt.apply(0x7f80_0001), 0x7f80_0000);
    assert_eq!(cvt.apply(0xffff_ffff), 0xffff_e000);
    let finite = Conversion {
        satfinite: true,
        ..cvt
    };
    assert_eq!(finite.apply(0x7f7f_ffff), 0x7f7f_e000);
    assert_eq!(finite.apply(0xff80_0001), 0xff7f_e000);
    assert_eq!(finite.apply(0x7fff_ffff), 0x7fff_c000);
}

/// As recorded on a GPU.
#[test]
fn payloads_of_nans() {
    let quiet = 0x7ff8_0000_0000_0000;
    for (to, from, bits, expected) in [
        (F32, F64, 0xfff0_0000_2000_0001, 0xffc0_0001),
        (F16, F64, 0x7ff0_0400_0000_0000, 0x7e01),
        (Bf16, F64, 0xfff8_0000_0000_0001, 0xffc0),
        (F64, F32, 0xff80_0001, quiet | 1 << 63 | 1 << 29),
        (F64, F16, 0x7c01, quiet | 1 << 42),
        (F64, Bf16, 0x7f81, quiet | 1 << 45),
        (F32, Bf16, 0xff81, 0xff81_0000),
        (F32, F32, 0xff80_0001, 0xff80_0001),
        (F64, F64, 0x7ff0_0000_0000_0001, 0x7ff0_0000_0000_0001),
        (F32, F16, 0xfc01, 0x7fff_ffff),
        (F16, F16, 0x7c01, 0x7fff),
        (Bf16, Bf16, 0xff81, 0x7fff),
        (Tf32, F32, 0xff80_0001, 0x7fff_e000),
    ] {
        assert_eq!(convert(to, from, bits), expected, "{from:?} to {to:?}");
    }
    let flushing = Conversion {
        ftz: true,
        ..Conversion::new(F64, F32, NEAREST)
    };
    assert_eq!(flushing.apply(0xff80_0001), 0x7fff_ffff_e000_0000);
}

#[test]
fn codes_round_trip() {
    for (i, to) in Scalar::ALL.into_iter().enumerate() {
        for (j, from) in Scalar::ALL.into_iter().enumerate() {
            let rounding = MODES[(i + j) % 5];
            let flag = |n: usize| (i * 15 + j) >> n & 1 != 0;
            let conversion = Conversion {
                integral: flag(0),
                sat: flag(1),
                satfinite: flag(2),
                ftz: flag(3),
                relu: flag(4),
                ..Conversion::new(to, from, rounding)
            };
            assert_eq!(Conversion::from_code(conversion.code()), conversion);
        }
    }
}

#[test]
fn packed_forms() {
    let cvt = Conversion::new(F16, F32, NEAREST);
    assert_eq!(cvt.pack(1.0f32.bits(), 2.0f32.bits()), 0x3c00_4000);
    let cvt = Conversion {
        satfinite: true,
        ..Conversion::new(E4m3, F32, NEAREST)
    };
    assert_eq!(cvt.pack(1.0f32.bits(), (-2.0f32).bits()), 0x38c0);
    let cvt = Conversion::new(F16, E5m2, NEAREST);
    assert_eq!(cvt.unpack(0x3cc0), 0x3c00_c000);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(warpsmith_testkit::cases(6_000)) })]

    /// Each conversion between floating-point types is the exact value rounded once.
    #[test]
    fn floats_round_once(bits in any::<u64>(), shift in 0u32..64, from in 0usize..5, to in 0usize..5, mode in 0usize..5) {
        let (from, to, mode) = (FLOATS[from], FLOATS[to], MODES[mode]);
        let bits = (bits >> shift) & from.mask();
        let (source, target) = (from.format().unwrap(), to.format().unwrap());
        let found = Conversion::new(to, from, mode).apply(bits);
        let expected = target.encode(source.decode(bits), mode, false);
        if (from, to, mode) == (F32, Tf32, Rounding::NearestAway) && source.decode(bits) == Number::Nan {
            // Rounded like a number: see `tf32_rounds_ties_away`.
            prop_assert!(found & 0x7f80_0000 == 0x7f80_0000);
        } else if source.decode(bits) == Number::Nan {
            prop_assert_eq!(target.decode(found), Number::Nan);
            let keeps_payload = from == to || [from, to].contains(&F64) || (from, to) == (Bf16, F32);
            prop_assert!(keeps_payload || found == expected);
        } else {
            prop_assert_eq!(found, expected, "{:?} to {:?} {:#x}", from, to, bits);
        }
    }

    /// Integer to float is the exact value rounded once; and back again saturates.
    #[test]
    fn integers_round_once(bits in any::<u64>(), shift in 0u32..64, from in 0usize..8, to in 0usize..5, mode in 0usize..5) {
        let (from, to, mode) = (INTEGERS[from], FLOATS[to], MODES[mode]);
        let bits = (bits >> shift) & from.mask();
        let conversion = Conversion::new(to, from, mode);
        let value = conversion.integer_value(bits);
        let target = to.format().unwrap();
        let found = conversion.apply(bits);
        prop_assert_eq!(found, target.encode(Number::integer(value), mode, false));
        let back = Conversion::new(from, to, mode);
        let (lowest, highest) = from.range();
        let whole = target.decode(found).to_integer(mode).unwrap().clamp(lowest, highest);
        prop_assert_eq!(back.apply(found), back.as_destination(whole));
    }
}
