//! Small linear systems solved by elimination with pivots, a thread a system.

use warpsmith_device::prelude::*;

/// Unknowns of a system.
pub const SIZE: usize = 6;

/// Solves each system; one that has no solution gives zeros.
#[kernel]
pub fn lu_6x6(
    matrices: &[[[f32; SIZE]; SIZE]],
    rights: &[[f32; SIZE]],
    mut solutions: PerThread<[[f32; SIZE]]>,
) {
    let i = thread::index();
    if let Some(solution) = solutions.mine() {
        *solution = solve(matrices[i], rights[i]).unwrap_or_default();
    }
}

/// The solution of a system.
pub fn solve(mut a: [[f32; SIZE]; SIZE], mut b: [f32; SIZE]) -> Option<[f32; SIZE]> {
    for k in 0..SIZE {
        let mut pivot = k;
        for row in k + 1..SIZE {
            if a[row][k].abs() > a[pivot][k].abs() {
                pivot = row;
            }
        }
        if a[pivot][k] == 0.0 {
            return None;
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        let top = a[k];
        for row in k + 1..SIZE {
            let factor = a[row][k] / top[k];
            for (value, above) in a[row].iter_mut().zip(top).skip(k) {
                *value -= factor * above;
            }
            b[row] -= factor * b[k];
        }
    }
    let mut x = [0.0; SIZE];
    for k in (0..SIZE).rev() {
        let known: f32 = (k + 1..SIZE).map(|j| a[k][j] * x[j]).sum();
        x[k] = (b[k] - known) / a[k][k];
    }
    Some(x)
}
