//! Inverses of small matrices, by elimination.

use warpsmith_device::prelude::*;

/// The inverse of each matrix.
#[kernel]
pub fn inverse_4x4(matrices: &[[[f32; 4]; 4]], mut inverses: PerThread<[[[f32; 4]; 4]]>) {
    if let (Some(matrix), Some(inverse)) = (matrices.get(thread::index()), inverses.mine()) {
        *inverse = inverse_of(matrix);
    }
}

/// The inverse of a matrix with a large diagonal, so that rows need not be exchanged.
pub fn inverse_of(matrix: &[[f32; 4]; 4]) -> [[f32; 4]; 4] {
    let mut left = *matrix;
    let mut right = [[0.0; 4]; 4];
    for (i, row) in right.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for pivot in 0..4 {
        let factor = 1.0 / left[pivot][pivot];
        for j in 0..4 {
            left[pivot][j] *= factor;
            right[pivot][j] *= factor;
        }
        for i in 0..4 {
            if i != pivot {
                let factor = left[i][pivot];
                for j in 0..4 {
                    left[i][j] -= factor * left[pivot][j];
                    right[i][j] -= factor * right[pivot][j];
                }
            }
        }
    }
    right
}
