//! Which numbers of 64 bits are prime, most probably: the test of Miller and Rabin, with Montgomery's multiplication.

use warpsmith_device::prelude::*;

/// The bases that a prime passes the test to.
pub const BASES: [u64; 4] = [2, 3, 5, 7];

/// Arithmetic modulo an odd number: `x` stands there as `x * 2^64`.
#[derive(Clone, Copy)]
struct Montgomery {
    modulus: u64,
    /// The inverse of the modulus, modulo 2^64.
    inverse: u64,
    /// 2^128.
    square: u64,
}

impl Montgomery {
    fn new(modulus: u64) -> Montgomery {
        // An odd number is its own inverse in three bits; each step doubles them.
        let inverse = (0..5).fold(modulus, |inverse, _| {
            let error = modulus.wrapping_mul(inverse);
            inverse.wrapping_mul(2u64.wrapping_sub(error))
        });
        let wide = u128::from(modulus);
        Montgomery {
            modulus,
            inverse,
            square: (wide.wrapping_neg() % wide) as u64,
        }
    }

    /// `x / 2^64`.
    fn reduce(self, x: u128) -> u64 {
        let (low, high) = (x as u64, (x >> 64) as u64);
        let factor = low.wrapping_mul(self.inverse);
        let carried = (u128::from(factor) * u128::from(self.modulus)) >> 64;
        match high.overflowing_sub(carried as u64) {
            (difference, false) => difference,
            (difference, true) => difference.wrapping_add(self.modulus),
        }
    }

    fn multiply(self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    /// How a number stands there.
    fn enter(self, x: u64) -> u64 {
        self.multiply(x, self.square)
    }

    fn power(self, mut base: u64, mut exponent: u64) -> u64 {
        let mut result = self.enter(1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.multiply(result, base);
            }
            base = self.multiply(base, base);
            exponent >>= 1;
        }
        result
    }
}

/// 1 for each number, odd and above 7, that passes the test to all bases, 0 for the others.
#[kernel]
pub fn miller_rabin(numbers: &[u64], mut primes: PerThread<[u8]>) {
    if let (Some(&number), Some(is_prime)) = (numbers.get(thread::index()), primes.mine()) {
        let field = Montgomery::new(number);
        *is_prime = u8::from(BASES.iter().all(|&base| passes(field, base)));
    }
}

/// Whether the modulus passes the test to a base.
fn passes(field: Montgomery, base: u64) -> bool {
    let one = field.enter(1);
    let minus_one = field.modulus - one;
    let twos = (field.modulus - 1).trailing_zeros();
    let mut x = field.power(field.enter(base), (field.modulus - 1) >> twos);
    if x == one || x == minus_one {
        return true;
    }
    for _ in 1..twos {
        x = field.multiply(x, x);
        if x == minus_one {
            return true;
        }
    }
    false
}
