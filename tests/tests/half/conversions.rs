//! Conversions from and to floats and integers, in every rounding.

use half::{bf16, f16};
use warpsmith_device::half::{Bf16x2, F16x2};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::half as kernels;
use warpsmith_tests::{Random, fixture};

/// Values around every rounding decision: exact, halfway, a bit to either side, in all sizes.
fn floats() -> Vec<f32> {
    let mut random = Random::new(32);
    let mut all = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        65504.0,
        65519.996,
        65520.0,
        -65536.0,
        1e-8,
        5.9604645e-8,
        2.9802322e-8,
        2.9802326e-8,
        6.1e-5,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        f32::INFINITY,
        f32::NEG_INFINITY,
        3.3895314e38,
        3.3961775e38,
    ];
    for _ in 0..800 {
        let half = f16::from_bits(random.bits() as u16);
        if half.is_finite() {
            let bits = half.to_f32().to_bits();
            all.extend(
                [bits, bits ^ 0x1000, bits ^ 0x1001, bits.wrapping_add(0xfff)].map(f32::from_bits),
            );
            all.push(f32::from_bits(bits ^ 0x8000));
        }
        all.push(f32::from_bits(random.bits() as u32));
    }
    all.retain(|x| !x.is_nan());
    all
}

/// The neighbours of `x` in f16, below and above (equal if exact): a search over all values.
fn neighbours(x: f32) -> (u16, u16) {
    const INFINITY: u16 = 0x7c00;
    let magnitude = x.abs();
    let decode = |bits: u16| f16::from_bits(bits).to_f32();
    // Patterns of non-negative values are ordered like the values.
    let (mut low, mut above) = (0, INFINITY + 1);
    while above - low > 1 {
        let middle = (low + above) / 2;
        if decode(middle) <= magnitude {
            low = middle;
        } else {
            above = middle;
        }
    }
    let next = if decode(low) == magnitude {
        low
    } else {
        low + 1
    };
    if x.is_sign_negative() {
        (next | 0x8000, low | 0x8000)
    } else {
        (low, next)
    }
}

// covers: MATH-30
#[test]
fn f16_rounds_in_four_ways() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::f16_from_f32)?;
    let x = floats();
    let (mut first, mut second) = (
        stream.zeroed::<F16x2>(x.len())?,
        stream.zeroed::<F16x2>(x.len())?,
    );
    stream.launch(
        &kernel,
        Grid::cover(x.len(), 64),
        (&stream.upload(&x)?, &mut first, &mut second),
    )?;
    let (first, second) = (stream.download(&first)?, stream.download(&second)?);
    for (i, &x) in x.iter().enumerate() {
        let (below, above) = neighbours(x);
        let finite = x.is_finite();
        let largest = |bits: u16| {
            if finite && bits & 0x7fff == 0x7c00 {
                bits - 1
            } else {
                bits
            }
        };
        let zero = if x.is_sign_negative() { above } else { below };
        assert_eq!(
            first[i].low().to_bits(),
            f16::from_f32(x).to_bits(),
            "{x} to nearest"
        );
        assert_eq!(first[i].high().to_bits(), largest(zero), "{x} towards zero");
        // Rounding away from infinity ends at the largest number.
        let down = if x > 0.0 { largest(below) } else { below };
        let up = if x < 0.0 { largest(above) } else { above };
        assert_eq!(second[i].low().to_bits(), down, "{x} down");
        assert_eq!(second[i].high().to_bits(), up, "{x} up");
    }
    Ok(())
}

// covers: MATH-30, WMMA-09
#[test]
fn bf16_and_tf32_from_f32() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::sm_80::bf16_conversions)?;
    let x = floats();
    let n = x.len();
    let mut rounded = stream.zeroed::<Bf16x2>(n)?;
    let (mut tf32, mut back) = (stream.zeroed::<f32>(n)?, stream.zeroed::<f32>(n)?);
    stream.launch(
        &kernel,
        Grid::cover(n, 64),
        (&stream.upload(&x)?, &mut rounded, &mut tf32, &mut back),
    )?;
    let (rounded, tf32, back) = (
        stream.download(&rounded)?,
        stream.download(&tf32)?,
        stream.download(&back)?,
    );
    for (i, &x) in x.iter().enumerate() {
        assert_eq!(
            rounded[i].low().to_bits(),
            bf16::from_f32(x).to_bits(),
            "{x} to nearest"
        );
        assert_eq!(
            rounded[i].high().to_bits(),
            (x.to_bits() >> 16) as u16,
            "{x} towards zero"
        );
        assert_eq!(
            back[i].to_bits(),
            bf16::from_f32(x).to_f32().to_bits(),
            "{x} and back"
        );
        // Nearest, ties away from zero: half of the last place is added to the magnitude.
        let want = if x.is_finite() {
            (x.to_bits() + 0x1000) & !0x1fff
        } else {
            x.to_bits()
        };
        assert_eq!(tf32[i].to_bits() & !0x1fff, want, "{x} to tf32");
    }
    Ok(())
}

// covers: MATH-30
#[test]
fn f16_to_f32_and_integers() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::f16_to_others)?;
    let x: Vec<f16> = (0..=0xffff).step_by(3).map(f16::from_bits).collect();
    let n = x.len();
    let (mut wide, mut integers) = (stream.zeroed::<f32>(n)?, stream.zeroed::<i32>(4 * n)?);
    let mut long = stream.zeroed::<u64>(n)?;
    // The atomic slice has four words a thread: no more threads than values.
    let grid = Grid::cover(n, 64);
    stream.launch(
        &kernel,
        grid,
        (&stream.upload(&x)?, &mut wide, &mut integers, &mut long),
    )?;
    let (wide, integers, long) = (
        stream.download(&wide)?,
        stream.download(&integers)?,
        stream.download(&long)?,
    );
    for (i, &x) in x.iter().enumerate() {
        let exact = x.to_f32();
        assert!(
            wide[i] == exact || wide[i].is_nan() && exact.is_nan(),
            "{x:?} widened"
        );
        assert_eq!(
            wide[i].is_sign_negative() && !exact.is_nan(),
            exact.is_sign_negative() && !exact.is_nan()
        );
        let expected = [
            exact.round_ties_even(),
            exact.trunc(),
            exact.floor(),
            exact.ceil(),
        ]
        .map(|x| x as i32);
        assert_eq!(integers[4 * i..][..4], expected, "{x:?} to i32");
        let want = u64::from(exact.trunc() as i16 as u16)
            | u64::from(exact.trunc() as u16) << 16
            | u64::from(exact.round_ties_even() as u32) << 32;
        assert_eq!(long[i], want, "{x:?} to i16, u16 and u32");
    }
    Ok(())
}

// covers: MATH-30
#[test]
fn integers_to_halves() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut x: Vec<i32> = vec![
        0,
        1,
        -1,
        2047,
        2048,
        2049,
        2051,
        -4099,
        65503,
        65519,
        65520,
        70000,
        i32::MAX,
        i32::MIN,
    ];
    let mut random = Random::new(64);
    x.extend((0..1000).map(|i| (random.bits() as i32) >> (i % 31)));
    let n = x.len();
    let buffer = stream.upload(&x)?;

    let kernel = f.module.kernel(kernels::f16_from_integers)?;
    let (mut signed, mut unsigned) = (stream.zeroed::<F16x2>(n)?, stream.zeroed::<F16x2>(n)?);
    stream.launch(
        &kernel,
        Grid::cover(n, 64),
        (&buffer, &mut signed, &mut unsigned),
    )?;
    let (signed, unsigned) = (stream.download(&signed)?, stream.download(&unsigned)?);
    for (i, &x) in x.iter().enumerate() {
        assert_eq!(
            signed[i].low(),
            f16::from_f64(f64::from(x)),
            "{x} to nearest"
        );
        // Integers below 2^24 are exact as f32; larger ones lie beyond f16's range anyhow.
        let below = |x: f64| {
            let bits = neighbours(x as f32).0;
            if x > 0.0 && bits & 0x7fff == 0x7c00 {
                bits - 1
            } else {
                bits
            }
        };
        assert_eq!(
            signed[i].high().to_bits(),
            below(f64::from(x) * 7.0),
            "7 * {x} down"
        );
        assert_eq!(
            unsigned[i].low().to_bits(),
            below(f64::from(x as u32)),
            "{x} as u32 towards zero"
        );
        assert_eq!(
            unsigned[i].high(),
            f16::from_f64(f64::from(x as i16)),
            "{x} as i16 to nearest"
        );
    }

    let kernel = f.module.kernel(kernels::sm_90::bf16_integers)?;
    let (mut rounded, mut back) = (stream.zeroed::<u16>(n)?, stream.zeroed::<i32>(n)?);
    stream.launch(
        &kernel,
        Grid::cover(n, 64),
        (&buffer, &mut rounded, &mut back),
    )?;
    let (rounded, back) = (stream.download(&rounded)?, stream.download(&back)?);
    for (i, &x) in x.iter().enumerate() {
        let want = bf16::from_f64(f64::from(x));
        assert_eq!(rounded[i], want.to_bits(), "{x} to bf16");
        assert_eq!(back[i], want.to_f64() as i32, "{x} to bf16 and back");
    }
    Ok(())
}
