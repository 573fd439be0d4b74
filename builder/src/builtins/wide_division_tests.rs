//! The quotients of 128-bit integers on the host, against the host's own arithmetic.

#[path = "device/wide_division.rs"]
mod wide_division;

use warpsmith_testkit::Random;

/// Numbers at the edges of each count of bits, and random ones: `count` of each.
fn numbers(bits: u32, count: usize) -> Vec<u128> {
    let mut random = Random::new(128);
    let mut word = || u128::from(random.bits());
    let mut all = vec![0];
    for length in 1..=bits {
        let mask = u128::MAX >> (128 - length);
        let highest = 1 << (length - 1);
        all.extend([highest, highest + 1, mask, mask - 1].map(|x| x & mask));
        all.extend((0..count).map(|_| (word() << 64 | word()) & mask | highest));
    }
    all
}

/// A `d` that is not zero.
fn check(n: u128, d: u128) {
    let expected = (n / d, n % d);
    let got = wide_division::unsigned(n, d, false);
    assert_eq!(got, expected, "{n:#x} / {d:#x}");
    let (n, d) = (n as i128, d as i128);
    let expected = (n.wrapping_div(d), n.wrapping_rem(d));
    assert_eq!(wide_division::signed(n, d, false), expected, "{n} / {d}");
}

#[test]
fn reciprocals_are_exact_whatever_they_start_from() {
    let check = |d: u64| {
        let exact = (u128::MAX / u128::from(d)) as u64;
        let first = (1.0 / (d >> 32) as u32 as f32).to_bits();
        for first in first - 2..=first + 2 {
            let got = wide_division::reciprocal(d, f32::from_bits(first));
            assert_eq!(got, exact, "{d:#x} from {first:#x}");
        }
    };
    for n in numbers(63, 200) {
        check(1 << 63 | n as u64);
        check(u64::MAX - n as u64);
    }
    // Where the conversion to f32 rounds the farthest.
    for middle in (0..1 << 21).map(|n: u64| 1 << 63 | n << 42) {
        for middle in [middle, middle | 1 << 39] {
            check(middle);
            check((middle - 1) | 1 << 63);
        }
    }
}

#[test]
fn words_are_divided_at_the_edges() {
    let words = numbers(64, 2);
    let divisors = words.iter().map(|&d| d as u64 | 1 << 63);
    for d in divisors {
        let inverse = (u128::MAX / u128::from(d)) as u64;
        let highs = words.iter().flat_map(|&x| [x as u64, d - 1 - x as u64 % d]);
        for high in highs.filter(|&high| high < d) {
            for &low in &words {
                let n = u128::from(high) << 64 | low;
                let (quotient, rest) = wide_division::divide(high, low as u64, d, inverse);
                let expected = (n / u128::from(d), n % u128::from(d));
                assert_eq!((quotient.into(), rest.into()), expected, "{n:#x} / {d:#x}");
            }
        }
    }
}

#[test]
fn quotients_of_numbers_of_all_lengths() {
    let all = numbers(128, 3);
    for &n in &all {
        for &d in all.iter().filter(|&&d| d != 0) {
            check(n, d);
            check(n.wrapping_neg(), d);
            check(n, d.wrapping_neg());
        }
    }
}

#[test]
fn quotients_of_exact_multiples_and_of_their_neighbours() {
    for &d in numbers(128, 8).iter().filter(|&&d| d != 0) {
        let most = u128::MAX / d;
        for factor in numbers(128, 1) {
            for factor in [factor.min(most), most - factor.min(most)] {
                let n = factor * d;
                check(n, d);
                check(n.wrapping_sub(1), d);
                check(n.saturating_add(d - 1), d);
            }
        }
    }
}

#[test]
fn a_division_by_zero_ends() {
    for n in numbers(128, 0) {
        wide_division::unsigned(n, 0, false);
        wide_division::signed(n as i128, 0, false);
    }
}
