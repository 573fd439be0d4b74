//! Inverses of small matrices, by cofactors.

use warpsmith_device::prelude::*;

/// The inverse of each matrix.
#[kernel]
pub fn inverse_3x3(matrices: &[[[f32; 3]; 3]], mut inverses: PerThread<[[[f32; 3]; 3]]>) {
    if let (Some(matrix), Some(inverse)) = (matrices.get(thread::index()), inverses.mine()) {
        *inverse = inverse_of(matrix);
    }
}

/// The inverse of a matrix that has one.
pub fn inverse_of(m: &[[f32; 3]; 3]) -> [[f32; 3]; 3] {
    let mut inverse = [[0.0; 3]; 3];
    for (i, row) in inverse.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            // The cofactor of the transpose, with its sign by going around.
            let (r0, r1) = ((j + 1) % 3, (j + 2) % 3);
            let (c0, c1) = ((i + 1) % 3, (i + 2) % 3);
            *value = m[r0][c0] * m[r1][c1] - m[r0][c1] * m[r1][c0];
        }
    }
    let determinant = m[0][0] * inverse[0][0] + m[0][1] * inverse[1][0] + m[0][2] * inverse[2][0];
    for value in inverse.as_flattened_mut() {
        *value /= determinant;
    }
    inverse
}
