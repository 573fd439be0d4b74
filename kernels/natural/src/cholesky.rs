//! Cholesky factors of small matrices, a thread a matrix.

use warpsmith_device::prelude::*;

/// Rows of a matrix.
pub const ROWS: usize = 6;

/// The lower triangular factor of each symmetric matrix.
#[kernel]
pub fn cholesky(matrices: &[[[f32; ROWS]; ROWS]], mut factors: PerThread<[[[f32; ROWS]; ROWS]]>) {
    if let (Some(matrix), Some(factor)) = (matrices.get(thread::index()), factors.mine()) {
        *factor = factor_of(matrix);
    }
}

/// The factor of a matrix.
pub fn factor_of(a: &[[f32; ROWS]; ROWS]) -> [[f32; ROWS]; ROWS] {
    let mut l = [[0.0; ROWS]; ROWS];
    for i in 0..ROWS {
        for j in 0..=i {
            let sum: f32 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            l[i][j] = if i == j {
                FloatExt::sqrt(a[i][i] - sum)
            } else {
                (a[i][j] - sum) / l[j][j]
            };
        }
    }
    l
}
