//! Powers in modular arithmetic.

use warpsmith_device::prelude::*;

/// `out` = each base to the power of `exponent`, modulo `modulus`, which is below 2^32.
#[kernel]
pub fn mod_pow(bases: &[u64], exponent: u64, modulus: u64, mut out: PerThread<[u64]>) {
    if let (Some(&base), Some(out)) = (bases.get(thread::index()), out.mine()) {
        *out = power(base, exponent, modulus);
    }
}

/// `base` to the power of `exponent`, modulo `modulus`.
pub fn power(base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut base = base % modulus;
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % modulus;
        }
        base = base * base % modulus;
        exponent >>= 1;
    }
    result
}
