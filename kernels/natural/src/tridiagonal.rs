//! Tridiagonal systems, by Thomas's algorithm, a thread a system.

use warpsmith_device::prelude::*;

/// Unknowns of a system.
pub const UNKNOWNS: usize = 16;

/// Solves each system: `lower`, `diagonal` and `upper` are its diagonals, `right` its right side.
#[kernel]
pub fn tridiagonal(
    lower: &[[f32; UNKNOWNS]],
    diagonal: &[[f32; UNKNOWNS]],
    upper: &[[f32; UNKNOWNS]],
    right: &[[f32; UNKNOWNS]],
    mut solutions: PerThread<[[f32; UNKNOWNS]]>,
) {
    let i = thread::index();
    if let Some(solution) = solutions.mine() {
        *solution = solve(&lower[i], &diagonal[i], &upper[i], &right[i]);
    }
}

/// The solution of a system.
pub fn solve(
    lower: &[f32; UNKNOWNS],
    diagonal: &[f32; UNKNOWNS],
    upper: &[f32; UNKNOWNS],
    right: &[f32; UNKNOWNS],
) -> [f32; UNKNOWNS] {
    let mut factors = [0.0; UNKNOWNS];
    let mut x = [0.0; UNKNOWNS];
    factors[0] = upper[0] / diagonal[0];
    x[0] = right[0] / diagonal[0];
    for i in 1..UNKNOWNS {
        let pivot = diagonal[i] - lower[i] * factors[i - 1];
        factors[i] = upper[i] / pivot;
        x[i] = (right[i] - lower[i] * x[i - 1]) / pivot;
    }
    for i in (0..UNKNOWNS - 1).rev() {
        x[i] -= factors[i] * x[i + 1];
    }
    x
}
