//! Divisions of 128-bit integers.

use core::ops::{Div, Rem};

use warpsmith_device::prelude::*;

/// Quotient and remainder of each pair.
#[kernel(instantiate(u128, i128))]
pub fn wide_quotients<T: Div<Output = T> + Rem<Output = T> + bytemuck::Pod>(
    pairs: &[[T; 2]],
    mut out: PerThread<[[T; 2]]>,
) {
    if let (Some(&[n, d]), Some(out)) = (pairs.get(thread::index()), out.mine()) {
        *out = [n / d, n % d];
    }
}

/// The remainder alone.
#[kernel(instantiate(u128, i128))]
pub fn wide_rests<T: Rem<Output = T> + bytemuck::Pod>(pairs: &[[T; 2]], mut out: PerThread<[T]>) {
    if let (Some(&[n, d]), Some(out)) = (pairs.get(thread::index()), out.mine()) {
        *out = n % d;
    }
}

/// The quotients and remainders of numbers of 128 bits and of 64.
#[kernel]
pub fn wide_quotients_by_words(
    numbers: &[u128],
    divisors: &[u64],
    mut out: PerThread<[[u128; 2]]>,
) {
    let i = thread::index();
    if let (Some(&n), Some(&d), Some(out)) = (numbers.get(i), divisors.get(i), out.mine()) {
        *out = [n / u128::from(d), n % u128::from(d)];
    }
}

/// The product of the first two numbers modulo the third.
#[kernel]
pub fn modular_products(numbers: &[[u64; 3]], mut out: PerThread<[u64]>) {
    if let (Some(&[a, b, m]), Some(out)) = (numbers.get(thread::index()), out.mine()) {
        *out = (u128::from(a) * u128::from(b) % u128::from(m)) as u64;
    }
}

/// What [`by_constants()`] gives.
#[kernel]
pub fn wide_quotients_by_constants(numbers: &[u128], mut out: PerThread<[[u128; 10]]>) {
    if let (Some(&n), Some(out)) = (numbers.get(thread::index()), out.mine()) {
        *out = by_constants(n);
    }
}

/// Quotients and remainders by small and large constants, of the number without a sign and with one.
pub fn by_constants(n: u128) -> [u128; 10] {
    const PRIME: u128 = 0xFFFF_FFFF_FFFF_FFC5;
    let signed = n as i128;
    [
        n / 10,
        n % 10,
        n / PRIME,
        n % PRIME,
        n / (PRIME * PRIME),
        n % (PRIME << 3),
        n / 64,
        (signed / -7) as u128,
        (signed % 1_000_000_007) as u128,
        (signed / -64) as u128,
    ]
}

/// What [`chained()`] gives.
#[kernel]
pub fn wide_quotients_in_a_chain(pairs: &[[u128; 2]], mut out: PerThread<[[u128; 2]]>) {
    if let (Some(&pair), Some(out)) = (pairs.get(thread::index()), out.mine()) {
        *out = chained(pair);
    }
}

/// So many divisions, with a sign and without one, that the linker calls them in the place of inlining them.
pub fn chained([n, d]: [u128; 2]) -> [u128; 2] {
    let mut unsigned = n;
    let mut signed = d as i128;
    macro_rules! steps {
        ($($step:literal)*) => {
            $(
                let divisor = d.rotate_left($step);
                unsigned = unsigned.rotate_left(41) ^ n.checked_div(divisor).unwrap_or($step);
                let rest = signed.checked_rem(unsigned as i128 >> $step);
                signed = signed.wrapping_mul(5) ^ rest.unwrap_or(-$step);
            )*
        };
    }
    steps!(1 9 17 30 43 56 64 77 90 103 116 127);
    [unsigned, signed as u128]
}
