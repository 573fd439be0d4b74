//! Floating-point functions: the exact ones against the host bit for bit, the others within their bounds.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::floats as kernels;
use warpsmith_tests::{Random, fixture};

/// Numbers of all sizes, and the special ones.
fn numbers(count: usize) -> Vec<f32> {
    let mut random = Random::new(6);
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        8_388_609.0,
    ];
    let plain = std::iter::repeat_with(|| {
        let scale = 2f32.powi(random.below(60) as i32 - 30);
        random.unit() * scale
    });
    special.into_iter().chain(plain).take(count).collect()
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

// covers: MATH-01, MATH-02, MATH-04, MATH-15
#[test]
fn exact_functions_agree_with_the_host() {
    let f = fixture();
    let stream = f.stream();
    let singles = numbers(3000);
    let triples: Vec<[f32; 3]> = singles
        .chunks_exact(3)
        .map(|c| [c[0], c[1], c[2]])
        .collect();
    let doubles: Vec<[f64; 3]> = triples
        .iter()
        .map(|t| t.map(|x| f64::from(x) * 1.1))
        .collect();

    macro_rules! check {
        ($ty:ty, $data:expr) => {{
            let kernel = f.module.kernel(kernels::exact_floats::<$ty>).unwrap();
            let xs = stream.upload($data).unwrap();
            let mut out = stream.zeroed::<[$ty; 8]>($data.len()).unwrap();
            let grid = Grid::cover($data.len(), 128);
            stream.launch(&kernel, grid, (&xs, &mut out)).unwrap();
            for (row, &[a, b, c]) in stream.download(&out).unwrap().iter().zip($data) {
                let expected: [$ty; 8] = [
                    a.sqrt(),
                    a.mul_add(b, c),
                    a.floor(),
                    a.ceil(),
                    a.trunc(),
                    a.round(),
                    a.round_ties_even(),
                    a.fract(),
                ];
                for (k, (got, want)) in row.iter().zip(expected).enumerate() {
                    let equal = same(f64::from(*got), f64::from(want));
                    assert!(
                        equal,
                        "function {k} of {a:e}, {b:e}, {c:e}: {got:e}, not {want:e}"
                    );
                }
            }
        }};
    }
    check!(f32, &triples);
    check!(f64, &doubles);
}

// covers: MATH-25, MATH-26
#[test]
fn directed_rounding_encloses_the_exact_result() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rounded_floats::<f32>).unwrap();
    let mut random = Random::new(7);
    let data: Vec<[f32; 3]> = (0..1000)
        .map(|_| std::array::from_fn(|_| random.unit().abs() * 8.0 + 0.001))
        .collect();
    let xs = stream.upload(&data).unwrap();
    let mut out = stream.zeroed::<[[f32; 7]; 4]>(data.len()).unwrap();
    stream
        .launch(&kernel, Grid::cover(data.len(), 128), (&xs, &mut out))
        .unwrap();
    for (rows, &[a, b, c]) in stream.download(&out).unwrap().iter().zip(&data) {
        let wide = [a, b, c].map(f64::from);
        // In f64 sums and products of f32 are exact; the others are near enough to tell the neighbours apart.
        let exact = [
            wide[0] + wide[1],
            wide[0] - wide[1],
            wide[0] * wide[1],
            wide[0] / wide[1],
            wide[0] * wide[1] + wide[2],
            1.0 / wide[0],
            wide[0].sqrt(),
        ];
        for (k, exact) in exact.into_iter().enumerate() {
            let [nearest, zero, up, down] = [0, 1, 2, 3].map(|row| rows[row][k]);
            assert_eq!(nearest, exact as f32, "operation {k} of {a}, {b}, {c}");
            assert!(f64::from(down) <= exact && exact <= f64::from(up));
            assert!(
                up == down || up == down.next_up(),
                "operation {k}: {down} {up}"
            );
            assert_eq!(zero, if exact < 0.0 { up } else { down });
        }
    }
}

#[test]
fn directed_rounding_of_doubles() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rounded_floats::<f64>).unwrap();
    let data = [[1.0f64, 3.0, 2.0], [10.0, 7.0, -1.0], [0.1, 0.2, 0.3]];
    let xs = stream.upload(&data).unwrap();
    let mut out = stream.zeroed::<[[f64; 7]; 4]>(3).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 32), (&xs, &mut out))
        .unwrap();
    for (rows, &[a, b, c]) in stream.download(&out).unwrap().iter().zip(&data) {
        let nearest = [
            a + b,
            a - b,
            a * b,
            a / b,
            a.mul_add(b, c),
            1.0 / a,
            a.sqrt(),
        ];
        for k in 0..7 {
            let [rn, rz, up, down] = [0, 1, 2, 3].map(|row| rows[row][k]);
            assert_eq!(rn, nearest[k], "operation {k} of {a}, {b}, {c}");
            assert!(down <= rn && rn <= up && (up == down || up == down.next_up()));
            assert_eq!(rz, if rn < 0.0 { up } else { down });
        }
    }
}

// covers: MATH-03, MATH-27, MATH-28
#[test]
fn approximations_keep_their_bounds() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::approximate_floats).unwrap();
    let mut random = Random::new(8);
    let data: Vec<[f32; 2]> = (0..4000)
        .map(|_| {
            [
                random.unit().abs() * 3.1 + 0.01,
                random.unit() * 100.0 + 0.5,
            ]
        })
        .collect();
    let xs = stream.upload(&data).unwrap();
    let mut out = stream.zeroed::<[f32; 11]>(data.len()).unwrap();
    stream
        .launch(&kernel, Grid::cover(data.len(), 128), (&xs, &mut out))
        .unwrap();
    for (row, &[a, b]) in stream.download(&out).unwrap().iter().zip(&data) {
        let (a, b) = (f64::from(a), f64::from(b));
        // The exact value; the bound in units in the last place, and an absolute bound.
        let expected: [(f64, f64, f64); 11] = [
            (1.0 / a.sqrt(), 2.0, 0.0),
            (a.sqrt(), 2.0, 0.0),
            (1.0 / a, 1.0, 0.0),
            (a / b, 2.0, 0.0),
            (a / b, 2.0, 0.0),
            (a.exp2(), 2.0, 0.0),
            (a.log2(), 2.0, 2f64.powi(-21)),
            (a.sin(), 0.0, 2f64.powi(-20)),
            (a.cos(), 0.0, 2f64.powi(-20)),
            (a.exp(), 2.0 + (1.173 * a).abs().floor(), 0.0),
            (a.ln(), 3.0, 2f64.powi(-21)),
        ];
        for (k, (exact, ulps, absolute)) in expected.into_iter().enumerate() {
            let unit = f64::from((exact as f32).abs().next_up() - (exact as f32).abs());
            let error = (f64::from(row[k]) - exact).abs();
            let bound = (ulps + 0.5) * unit + absolute;
            assert!(
                error <= bound,
                "function {k} of {a}, {b}: {} instead of {exact}",
                row[k]
            );
        }
    }
}

#[test]
fn the_approximate_tanh() {
    let f = fixture();
    if f.gpu.compute_capability() < ComputeCapability::new(8, 0) {
        return;
    }
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::approximate_tanh).unwrap();
    let x: Vec<f32> = (-400..400).map(|i| i as f32 / 50.0).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<f32>(x.len()).unwrap();
    stream
        .launch(&kernel, Grid::cover(x.len(), 128), (&xs, &mut out))
        .unwrap();
    for (y, x) in stream.download(&out).unwrap().iter().zip(&x) {
        let exact = x.tanh();
        assert!(
            (y - exact).abs() <= exact.abs() * 2f32.powi(-10),
            "tanh({x}) = {y}"
        );
    }
}

/// Pairs for `%`: of all exponents, subnormal and special numbers, close ones, and multiples.
fn remainder_pairs() -> (Vec<[f32; 2]>, Vec<[f64; 2]>) {
    let mut random = Random::new(13);
    let mut word = || random.bits();
    let (mut singles, mut doubles) = (Vec::new(), Vec::new());
    for x in 0..64u32 {
        for y in 0..64u32 {
            // Exponents in steps, with the lowest and the highest two.
            let exponent = |n: u32| [0, 1, 254, 255].get(n as usize).copied().unwrap_or(n * 4);
            let [m, n] = [word(), word()];
            let number = |e: u32, mantissa: u64| f32::from_bits(e << 23 | (mantissa >> 41) as u32);
            singles.push([number(exponent(x), m), -number(exponent(y), n)]);
            let exponent = |n: u32| {
                [0, 1, 2046, 2047]
                    .get(n as usize)
                    .copied()
                    .unwrap_or(n * 32)
            };
            let number =
                |e: u32, mantissa: u64| f64::from_bits(u64::from(e) << 52 | mantissa >> 12);
            doubles.push([-number(exponent(x), m), number(exponent(y), n)]);
        }
    }
    for _ in 0..2000 {
        let [m, n] = [word(), word()];
        let x = f32::from_bits(m as u32);
        let below = (n as u32 % (30 << 23)).min(x.to_bits() & 0x7FFF_FFFF);
        singles.push([x, f32::from_bits(x.to_bits() - below)]);
        let [i, j] = [(m >> 52) as f32, (n >> 52) as f32];
        singles.extend([
            [i * j, j],
            [(i * j).next_down(), j],
            [(i * j).next_up(), -j],
        ]);
        let x = f64::from_bits(m);
        let below = (n % (60 << 52)).min(m & (u64::MAX >> 1));
        doubles.push([x, f64::from_bits(m - below)]);
        let [i, j] = [(m >> 38) as f64, (n >> 38) as f64];
        doubles.extend([
            [i * j, j],
            [(i * j).next_down(), j],
            [(i * j).next_up(), -j],
        ]);
    }
    (singles, doubles)
}

// covers: MATH-13
#[test]
fn remainders_agree_with_the_host() {
    let f = fixture();
    let stream = f.stream();
    let (singles, doubles) = remainder_pairs();
    macro_rules! check {
        ($ty:ty, $pairs:expr) => {{
            let kernel = f.module.kernel(kernels::remainders::<$ty>).unwrap();
            let pairs = stream.upload($pairs).unwrap();
            let mut out = stream.zeroed::<$ty>($pairs.len()).unwrap();
            let grid = Grid::cover($pairs.len(), 128);
            stream.launch(&kernel, grid, (&pairs, &mut out)).unwrap();
            for (got, [x, y]) in stream.download(&out).unwrap().into_iter().zip($pairs) {
                assert!(same(got.into(), (x % y).into()), "{x:e} % {y:e} is {got:e}");
            }
        }};
    }
    check!(f32, &singles);
    check!(f64, &doubles);
}

#[test]
fn wide_integers_convert_as_on_the_host() {
    let f = fixture();
    let stream = f.stream();
    let mut random = Random::new(128);
    let mut word = || random.bits();
    // Integers with so many bits, their neighbours at the limits, and sums that lie between two floating-point numbers.
    let mut wide = vec![
        [0, 0],
        [u64::MAX, u64::MAX],
        [0, 1 << 63],
        [u64::MAX, u64::MAX >> 1],
    ];
    let mut floats = vec![];
    for bits in 1..128 {
        let x = 1u128 << bits;
        let tie = x | x >> 24;
        let wider_tie = x | x >> 53;
        let random = (u128::from(word()) << 64 | u128::from(word())) >> (127 - bits);
        for x in [
            x,
            x - 1,
            tie,
            tie - 1,
            tie + 1,
            wider_tie,
            wider_tie + 1,
            random,
        ] {
            for x in [x, x.wrapping_neg()] {
                wide.push([x as u64, (x >> 64) as u64]);
                floats.push([(x as f32).to_bits().into(), (x as f64).to_bits()]);
                floats.push([
                    (x as i128 as f32).to_bits().into(),
                    (x as i128 as f64).to_bits(),
                ]);
            }
        }
    }
    for (single, double) in [
        (f32::NAN, f64::NAN),
        (f32::INFINITY, f64::INFINITY),
        (f32::NEG_INFINITY, f64::NEG_INFINITY),
        (f32::MAX, f64::MAX),
        (-0.0, -0.0),
        (-0.99, -0.99),
        (f32::from_bits(1), f64::from_bits(1)),
        (1.5, 1e38),
        (-2.5, -1.8e38),
    ] {
        floats.push([single.to_bits().into(), double.to_bits()]);
    }

    let xs = stream.upload(&wide).unwrap();
    let mut out = stream.zeroed::<[u64; 4]>(wide.len()).unwrap();
    let kernel = f.module.kernel(kernels::wide_to_floats).unwrap();
    stream
        .launch(&kernel, Grid::cover(wide.len(), 128), (&xs, &mut out))
        .unwrap();
    for (got, &x) in stream.download(&out).unwrap().into_iter().zip(&wide) {
        assert_eq!(got, kernels::wide_as_floats(x), "{x:x?}");
    }
    let xs = stream.upload(&floats).unwrap();
    let mut out = stream.zeroed::<[u64; 8]>(floats.len()).unwrap();
    let kernel = f.module.kernel(kernels::floats_to_wide).unwrap();
    stream
        .launch(&kernel, Grid::cover(floats.len(), 128), (&xs, &mut out))
        .unwrap();
    for (got, &[single, double]) in stream.download(&out).unwrap().into_iter().zip(&floats) {
        let [single, double] = [f32::from_bits(single as u32).into(), f64::from_bits(double)];
        assert_eq!(
            got,
            kernels::floats_as_wide(single as f32, double),
            "{single:e}, {double:e}"
        );
    }
}
