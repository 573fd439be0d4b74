//! Divisions of 128-bit integers agree with the host's.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::wide_integers as kernels;
use warpsmith_tests::{Random, fixture};

/// Numbers of up to so many bits: of each length the least and the greatest two, and a random one.
fn numbers(bits: u32) -> Vec<u128> {
    let mut random = Random::new(bits.into());
    let mut word = || u128::from(random.bits());
    let of_length = |length: u32| {
        let mask = u128::MAX >> (128 - length);
        let highest = 1 << (length - 1);
        let random = (word() << 64 | word()) & mask | highest;
        [highest, highest + 1, mask, mask - 1, random].map(|x| x & mask)
    };
    (1..=bits).flat_map(of_length).collect()
}

/// Each with some others that are not zero, among them those of about the same length, and a number whose high word is one less than
/// that of the divisor.
fn pairs() -> Vec<[u128; 2]> {
    let numbers = numbers(128);
    let divisors: Vec<u128> = numbers.iter().copied().filter(|&d| d != 0).collect();
    let mut pairs = Vec::new();
    for (i, &n) in numbers.iter().enumerate() {
        for step in [1, 2, 7, 29, 101, 317] {
            let d = divisors[(i * step + step) % divisors.len()];
            pairs.extend([[n, d], [d, n.max(1)], [n, n.max(1)]]);
            let below = (d << 64).wrapping_sub(1 << 64) | n >> 64;
            pairs.extend([[below, d], [d.wrapping_mul(n | 1).wrapping_sub(1), d]]);
        }
    }
    pairs
}

#[test]
fn wide_quotients_and_remainders_agree_with_the_host() {
    let f = fixture();
    let stream = f.stream();
    let unsigned = pairs();
    let signed = unsigned.iter().flat_map(|pair| {
        let [n, d] = pair.map(|x| x as i128);
        [[n, d], [n.wrapping_neg(), d], [n, d.wrapping_neg()]]
    });
    let signed: Vec<[i128; 2]> = signed
        .filter(|&[n, d]| n.checked_div(d).is_some())
        .collect();
    macro_rules! check {
        ($ty:ty, $pairs:expr) => {{
            let divide = f.module.kernel(kernels::wide_quotients::<$ty>).unwrap();
            let rests_of = f.module.kernel(kernels::wide_rests::<$ty>).unwrap();
            let pairs = stream.upload($pairs).unwrap();
            let mut both = stream.zeroed::<[$ty; 2]>($pairs.len()).unwrap();
            let mut rests = stream.zeroed::<$ty>($pairs.len()).unwrap();
            let grid = Grid::cover($pairs.len(), 128);
            stream.launch(&divide, grid, (&pairs, &mut both)).unwrap();
            stream
                .launch(&rests_of, grid, (&pairs, &mut rests))
                .unwrap();
            let rests = stream.download(&rests).unwrap();
            let both = stream.download(&both).unwrap();
            for ((both, rest), &[n, d]) in both.into_iter().zip(rests).zip($pairs) {
                assert_eq!(both, [n / d, n % d], "{n} / {d}");
                assert_eq!(rest, n % d, "{n} % {d}");
            }
        }};
    }
    check!(u128, &unsigned);
    check!(i128, &signed);
}

#[test]
fn wide_numbers_are_divided_by_words() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::wide_quotients_by_words).unwrap();
    let pairs = pairs().into_iter().map(|[n, d]| (n, d as u64));
    let (numbers, divisors): (Vec<u128>, Vec<u64>) = pairs.filter(|&(_, d)| d != 0).unzip();
    let n = stream.upload(&numbers).unwrap();
    let d = stream.upload(&divisors).unwrap();
    let mut out = stream.zeroed::<[u128; 2]>(numbers.len()).unwrap();
    let grid = Grid::cover(numbers.len(), 128);
    stream.launch(&kernel, grid, (&n, &d, &mut out)).unwrap();
    let both = stream.download(&out).unwrap();
    for ((both, n), d) in both.into_iter().zip(numbers).zip(divisors) {
        let d = u128::from(d);
        assert_eq!(both, [n / d, n % d], "{n} / {d}");
    }
}

#[test]
fn products_modulo_a_number() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::modular_products).unwrap();
    let words = numbers(64);
    let mut triples = Vec::new();
    for (i, &m) in words.iter().enumerate().filter(|&(_, &m)| m != 0) {
        for step in [3, 11, 58] {
            let [a, b] = [i * step, i + step].map(|i| words[i % words.len()]);
            // Numbers below the modulus, and others.
            triples.extend([[a % m, b % m, m], [a, b, m], [m - 1, m - 1, m]]);
        }
    }
    let triples: Vec<[u64; 3]> = triples.iter().map(|t| t.map(|x| x as u64)).collect();
    let numbers = stream.upload(&triples).unwrap();
    let mut out = stream.zeroed::<u64>(triples.len()).unwrap();
    let grid = Grid::cover(triples.len(), 128);
    stream.launch(&kernel, grid, (&numbers, &mut out)).unwrap();
    for (got, triple) in stream.download(&out).unwrap().into_iter().zip(triples) {
        let [a, b, m] = triple.map(u128::from);
        assert_eq!(u128::from(got), a * b % m, "{a} * {b} % {m}");
    }
}

#[test]
fn wide_numbers_are_divided_by_constants() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f
        .module
        .kernel(kernels::wide_quotients_by_constants)
        .unwrap();
    let all: Vec<u128> = pairs().into_iter().map(|[n, _]| n).collect();
    let numbers = stream.upload(&all).unwrap();
    let mut out = stream.zeroed::<[u128; 10]>(all.len()).unwrap();
    let grid = Grid::cover(all.len(), 128);
    stream.launch(&kernel, grid, (&numbers, &mut out)).unwrap();
    for (got, n) in stream.download(&out).unwrap().into_iter().zip(all) {
        assert_eq!(got, kernels::by_constants(n), "{n}");
    }
}

#[test]
fn many_divisions_in_one_kernel_agree_with_the_host() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::wide_quotients_in_a_chain).unwrap();
    let pairs = pairs();
    let numbers = stream.upload(&pairs).unwrap();
    let mut out = stream.zeroed::<[u128; 2]>(pairs.len()).unwrap();
    let grid = Grid::cover(pairs.len(), 128);
    stream.launch(&kernel, grid, (&numbers, &mut out)).unwrap();
    for (got, pair) in stream.download(&out).unwrap().into_iter().zip(pairs) {
        assert_eq!(got, kernels::chained(pair), "{pair:?}");
    }
}
