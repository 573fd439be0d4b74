//! Products of large integers.

use warpsmith_device::prelude::*;

/// Words of a factor, the lowest first.
pub const WORDS: usize = 4;

/// The product of each pair of integers of 256 bits.
#[kernel]
pub fn big_multiply(
    a: &[[u64; WORDS]],
    b: &[[u64; WORDS]],
    mut products: PerThread<[[u64; 2 * WORDS]]>,
) {
    let i = thread::index();
    if let (Some(a), Some(b), Some(product)) = (a.get(i), b.get(i), products.mine()) {
        *product = multiply(a, b);
    }
}

/// The product of two integers.
pub fn multiply(a: &[u64; WORDS], b: &[u64; WORDS]) -> [u64; 2 * WORDS] {
    let mut product = [0u64; 2 * WORDS];
    for (i, &a) in a.iter().enumerate() {
        let mut carry = 0u64;
        for (j, &b) in b.iter().enumerate() {
            let sum =
                u128::from(a) * u128::from(b) + u128::from(product[i + j]) + u128::from(carry);
            product[i + j] = sum as u64;
            carry = (sum >> 64) as u64;
        }
        product[i + WORDS] = carry;
    }
    product
}
