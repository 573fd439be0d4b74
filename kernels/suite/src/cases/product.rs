//! The oracle of the two matrix products: `c = alpha * a * b + beta * c0`, all row-major and dense.

use crate::check::{UNIT_F32, Verified, close};
use warpsmith_kernels::random;

/// A product to check.
pub(super) struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub alpha: f64,
    pub beta: f64,
    pub a: Vec<f32>,
    pub b: Vec<f32>,
    pub c0: Vec<f32>,
    /// The absolute error that one element may have.
    pub tolerance: f64,
}

/// How far a sum of `k` products of numbers in [-1, 1) may be off when each addition may be off by `roundoffs` unit
/// roundoffs of its result.
///
/// The rigorous bound, `k` roundoffs of the sum of the magnitudes, is so loose for thousands of terms that it would
/// pass a missing term. The terms have random signs, so a partial sum of `i` of them has a standard deviation of
/// `sqrt(i) / 3`, and rounding at every step leaves an error with one of about `0.14 * u * k`. Twice `u * k` is 14 of
/// those, while one missing or doubled term is off by 0.25 on average: 500 times the tolerance at `k` = 4096.
pub(super) fn tolerance(k: usize, roundoffs: f64) -> f64 {
    2.0 * roundoffs * UNIT_F32 * (k + 8) as f64
}

/// Up to this many multiplications every element is computed.
const FULL: usize = 1 << 27;

impl Product {
    fn element(&self, row: usize, col: usize) -> f64 {
        let a = &self.a[row * self.k..][..self.k];
        let sum: f64 = (0..self.k)
            .map(|i| f64::from(a[i]) * f64::from(self.b[i * self.n + col]))
            .sum();
        self.alpha * sum + self.beta * self.c0(row * self.n + col)
    }

    fn c0(&self, index: usize) -> f64 {
        self.c0.get(index).map_or(0.0, |&c| f64::from(c))
    }

    /// Checks a small product element by element. Of a large one it checks some thousand elements, and each row as a
    /// whole by Freivalds' method: `c v` against `alpha * a (b v) + beta * c0 v` for a random vector `v` of signs.
    pub fn verify(&self, got: &[f32]) -> Result<Verified, String> {
        let (m, n, k) = (self.m, self.n, self.k);
        let position = |i: usize| format!("({}, {})", i / n, i % n);
        if m * n * k <= FULL {
            let oracle = |i: usize| (self.element(i / n, i % n), self.tolerance);
            return close(got, oracle, position).map_err(|wrong| wrong.to_string());
        }
        let chosen: Vec<usize> = (0..4096)
            .map(|i| random::bits(7, i) as usize % (m * n))
            .collect();
        let values: Vec<f32> = chosen.iter().map(|&i| got[i]).collect();
        let sampled = close(
            &values,
            |i| (self.element(chosen[i] / n, chosen[i] % n), self.tolerance),
            |i| position(chosen[i]),
        )
        .map_err(|wrong| wrong.to_string())?;

        let sign = |j: usize| {
            if random::bits(11, j as u64) & 1 == 0 {
                1.0
            } else {
                -1.0
            }
        };
        let signs: Vec<f64> = (0..n).map(sign).collect();
        let dot = |row: &[f32], v: &[f64]| -> f64 {
            row.iter().zip(v).map(|(&x, v)| f64::from(x) * v).sum()
        };
        let bv: Vec<f64> = (0..k).map(|i| dot(&self.b[i * n..][..n], &signs)).collect();
        let rows: Vec<f64> = (0..m).map(|i| dot(&got[i * n..][..n], &signs)).collect();
        // The errors of a row's elements are independent, so their signed sum grows with the root of their number.
        let bound = 2.0 * self.tolerance * (n as f64).sqrt();
        let oracle = |i: usize| {
            let c0 = if self.c0.is_empty() {
                0.0
            } else {
                dot(&self.c0[i * n..][..n], &signs)
            };
            (
                self.alpha * dot(&self.a[i * k..][..k], &bv) + self.beta * c0,
                bound,
            )
        };
        let whole = close(&rows, oracle, |i| format!("the signed sum of row {i}"))
            .map_err(|wrong| wrong.to_string())?;
        Ok(Verified {
            elements: (m * n) as u64,
            worst: sampled.worst.max(whole.worst),
        })
    }
}

/// The shape `(m, n, k)` for a size: square where it is a multiple of the tile, else with three different sides, all
/// multiples of `vector` if the size is one, so that both ways to load are seen.
pub(super) fn shape(size: usize, vector: usize) -> (usize, usize, usize) {
    match size {
        s if s.is_multiple_of(128) => (s, s, s),
        s if s.is_multiple_of(vector) => (s + 1, s + vector, s + 2 * vector),
        s => (s + 2, s + 1, s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(size: usize) -> (Product, Vec<f32>) {
        let draw = |seed| {
            (0..(size * size) as u64)
                .map(|i| random::unit(seed, i))
                .collect::<Vec<f32>>()
        };
        let product = Product {
            m: size,
            n: size,
            k: size,
            alpha: 2.0,
            beta: 1.0,
            a: draw(1),
            b: draw(2),
            c0: draw(3),
            tolerance: tolerance(size, 1.0),
        };
        let c = (0..size * size)
            .map(|i| product.element(i / size, i % size) as f32)
            .collect();
        (product, c)
    }

    #[test]
    fn a_right_product_passes_and_one_wrong_element_does_not() {
        let (product, mut c) = product(40);
        assert_eq!(product.verify(&c).unwrap().elements, 1600);
        c[41] += 0.01;
        assert!(product.verify(&c).unwrap_err().contains("(1, 1)"));
    }

    #[test]
    fn a_missing_term_is_far_outside_the_tolerance() {
        let (product, mut c) = product(40);
        c[7] -= product.a[0] * product.b[7];
        assert!(product.verify(&c).is_err());
    }
}
