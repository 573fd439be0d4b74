//! Arithmetic, comparisons and packed pairs.

use half::{bf16, f16};
use warpsmith_device::half::{Bf16x2, F16x2};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::half as kernels;
use warpsmith_tests::{Random, fixture};

/// Values at the corners of a 16-bit format, and random ones: `(a, b, c)` each.
fn triples(specials: &[u16]) -> [Vec<u16>; 3] {
    let mut random = Random::new(16);
    let [mut a, mut b, mut c] = [Vec::new(), Vec::new(), Vec::new()];
    for &x in specials {
        for &y in specials {
            a.push(x);
            b.push(y);
            c.push(specials[random.below(specials.len() as u32) as usize]);
        }
    }
    for _ in 0..2001 {
        a.push(random.bits() as u16);
        b.push(random.bits() as u16);
        c.push(random.bits() as u16);
    }
    // Products and sums of similar size, where rounding matters most.
    for _ in 0..1000 {
        a.push(0x3c00 + random.below(0x800) as u16);
        b.push(0x3c00 + random.below(0x800) as u16);
        c.push(0x1400 + random.below(0xa800) as u16);
    }
    [a, b, c]
}

const F16_SPECIALS: [u16; 16] = [
    0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3555, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
    0x7e00, 0x7c01, 0x4248,
];
const BF16_SPECIALS: [u16; 16] = [
    0, 0x8000, 1, 0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80, 0x3eab, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
    0x7fc0, 0x7f81, 0x4049,
];

/// A 16-bit format on the CPU.
trait Format {
    fn decode(bits: u16) -> f64;
    /// To nearest even, from an exact sum of a `f64` and what is left of it.
    fn round(value: f64, rest: f64) -> u16;
    const SIGN: u16 = 0x8000;
}

/// Rounds `value + rest` (exactly that sum) to odd, which makes a second rounding harmless.
fn round_to_odd(value: f64, rest: f64) -> f64 {
    if rest == 0.0 || !value.is_finite() || value.to_bits() & 1 == 1 {
        return value;
    }
    // `value` is even and not exact: step towards `rest`.
    let towards_larger = (rest > 0.0) == (value > 0.0);
    f64::from_bits(if towards_larger {
        value.to_bits() + 1
    } else {
        value.to_bits() - 1
    })
}

/// The crate `half` cuts off the low 32 bits of a `f64` before it rounds; here they leave a trace.
fn shorten(value: f64) -> f64 {
    let (bits, low) = (value.to_bits() >> 32 << 32, value.to_bits() as u32);
    f64::from_bits(if low != 0 && value.is_finite() {
        bits | 1 << 32
    } else {
        bits
    })
}

struct F16;
struct Bf16;
impl Format for F16 {
    fn decode(bits: u16) -> f64 {
        f16::from_bits(bits).to_f64()
    }
    fn round(value: f64, rest: f64) -> u16 {
        f16::from_f64(shorten(round_to_odd(value, rest))).to_bits()
    }
}
impl Format for Bf16 {
    fn decode(bits: u16) -> f64 {
        bf16::from_bits(bits).to_f64()
    }
    fn round(value: f64, rest: f64) -> u16 {
        bf16::from_f64(shorten(round_to_odd(value, rest))).to_bits()
    }
}

/// `x + y` and what rounding took from it (Knuth's two-sum).
fn two_sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let part = sum - x;
    (sum, (x - (sum - part)) + (y - part))
}

/// The expected bits; `None`: a NaN of any kind. Comparisons give 0 or 1.
fn expected<F: Format>(which: u32, a: u16, b: u16, c: u16) -> Option<u16> {
    let (x, y, z) = (F::decode(a), F::decode(b), F::decode(c));
    let rounded = |(value, rest): (f64, f64)| (!value.is_nan()).then(|| F::round(value, rest));
    // Products of 11-bit (8-bit) numbers are exact in f64.
    match which {
        0 => rounded(two_sum(x, y)),
        1 => rounded(two_sum(x, -y)),
        2 => rounded((x * y, 0.0)),
        3 => rounded(two_sum(x * y, z)),
        4 => (!x.is_nan()).then_some(a ^ F::SIGN),
        5 => (!x.is_nan()).then_some(a & !F::SIGN),
        6 | 7 => match (x.is_nan(), y.is_nan()) {
            (true, true) => None,
            (true, false) => Some(b),
            (false, true) => Some(a),
            // -0 is less than +0.
            _ => Some(if (x.total_cmp(&y).is_lt()) == (which == 6) {
                a
            } else {
                b
            }),
        },
        8 => rounded(two_sum(x * y, z)).map(|bits| if bits & F::SIGN != 0 { 0 } else { bits }),
        9 => Some(u16::from(x == y)),
        10 => Some(u16::from(
            x.partial_cmp(&y).is_some_and(|order| order.is_ne()),
        )),
        11 => Some(u16::from(x < y)),
        12 => Some(u16::from(x <= y)),
        13 => Some(u16::from(x > y)),
        _ => Some(u16::from(x >= y)),
    }
}

fn check<F: Format>(which: u32, got: &[u16], [a, b, c]: &[Vec<u16>; 3]) {
    for (i, &got) in got.iter().enumerate() {
        let (a, b, c) = (a[i], b[i], c[i]);
        match expected::<F>(which, a, b, c) {
            Some(want) => assert_eq!(
                got, want,
                "operation {which} of {a:#x}, {b:#x}, {c:#x}: {got:#x}, not {want:#x}"
            ),
            None => assert!(
                F::decode(got).is_nan(),
                "operation {which} of {a:#x}, {b:#x}, {c:#x}: {got:#x}, not a NaN"
            ),
        }
    }
}

// covers: MATH-30, VEC-07
#[test]
fn f16_arithmetic() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::f16_operation)?;
    let data = triples(&F16_SPECIALS);
    let n = data[0].len();
    let [a, b, c] = [&data[0], &data[1], &data[2]].map(|bits| {
        let values: Vec<f16> = bits.iter().map(|&bits| f16::from_bits(bits)).collect();
        stream.upload(&values).expect("memory")
    });
    for which in 0..15 {
        let mut out = stream.zeroed::<u16>(n)?;
        stream.launch(&kernel, Grid::cover(n, 128), (which, &a, &b, &c, &mut out))?;
        check::<F16>(which, &stream.download(&out)?, &data);
    }
    Ok(())
}

// covers: MATH-30
#[test]
fn bf16_arithmetic() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::sm_80::bf16_operation)?;
    let data = triples(&BF16_SPECIALS);
    let n = data[0].len();
    let [a, b, c] = [&data[0], &data[1], &data[2]].map(|bits| {
        let values: Vec<bf16> = bits.iter().map(|&bits| bf16::from_bits(bits)).collect();
        stream.upload(&values).expect("memory")
    });
    for which in 0..15 {
        let mut out = stream.zeroed::<u16>(n)?;
        stream.launch(&kernel, Grid::cover(n, 128), (which, &a, &b, &c, &mut out))?;
        check::<Bf16>(which, &stream.download(&out)?, &data);
    }
    Ok(())
}

/// Low and high halves of words.
fn halves(words: &[u32]) -> (Vec<u16>, Vec<u16>) {
    words
        .iter()
        .map(|&word| (word as u16, (word >> 16) as u16))
        .unzip()
}

/// Pairs of `x[i]` and `x[i - 1]`, so that the halves differ.
fn paired(x: &[u16]) -> Vec<u32> {
    (0..x.len())
        .map(|i| u32::from(x[i]) | u32::from(x[(i + x.len() - 1) % x.len()]) << 16)
        .collect()
}

// covers: MATH-30
#[test]
fn packed_arithmetic_works_on_each_half() -> Result<()> {
    let f = fixture();
    let stream = f.stream();

    let data = triples(&F16_SPECIALS);
    let n = data[0].len();
    let words = [&data[0], &data[1], &data[2]].map(|x| paired(x));
    let shifted = [0, 1, 2].map(|which| halves(&words[which]).1);
    let kernel = f.module.kernel(kernels::f16x2_operation)?;
    let [a, b, c] = [0, 1, 2].map(|which| {
        let pairs: Vec<F16x2> = words[which]
            .iter()
            .map(|&bits| F16x2::from_bits(bits))
            .collect();
        stream.upload(&pairs).expect("memory")
    });
    for which in 0..9 {
        let mut out = stream.zeroed::<u32>(n)?;
        stream.launch(&kernel, Grid::cover(n, 96), (which, &a, &b, &c, &mut out))?;
        let (low, high) = halves(&stream.download(&out)?);
        check::<F16>(which, &low, &data);
        check::<F16>(which, &high, &shifted);
    }

    let data = triples(&BF16_SPECIALS);
    let words = [&data[0], &data[1], &data[2]].map(|x| paired(x));
    let shifted = [0, 1, 2].map(|which| halves(&words[which]).1);
    let kernel = f.module.kernel(kernels::sm_80::bf16x2_operation)?;
    let [a, b, c] = [0, 1, 2].map(|which| {
        let pairs: Vec<Bf16x2> = words[which]
            .iter()
            .map(|&bits| Bf16x2::from_bits(bits))
            .collect();
        stream.upload(&pairs).expect("memory")
    });
    for which in 0..9 {
        let mut out = stream.zeroed::<u32>(n)?;
        stream.launch(&kernel, Grid::cover(n, 96), (which, &a, &b, &c, &mut out))?;
        let (low, high) = halves(&stream.download(&out)?);
        check::<Bf16>(which, &low, &data);
        check::<Bf16>(which, &high, &shifted);
    }
    Ok(())
}
