//! Small matrices taken apart into a turn and a triangle, by rotations (Givens), a thread a matrix.

use bytemuck::{Pod, Zeroable};
use core::array::from_fn;
use warpsmith_device::prelude::*;

/// Rows and columns of a matrix.
pub const SIZE: usize = 4;

/// A matrix.
pub type Square = [[f32; SIZE]; SIZE];

/// What a matrix is taken apart into: `turn` times the matrix is `triangle`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Factors {
    /// Its rows have the length 1 and are orthogonal.
    pub turn: Square,
    /// There is nothing below its diagonal.
    pub triangle: Square,
}

impl Factors {
    fn of(matrix: &Square) -> Factors {
        let mut factors = Factors {
            turn: from_fn(|i| from_fn(|j| if i == j { 1.0 } else { 0.0 })),
            triangle: *matrix,
        };
        for column in 0..SIZE - 1 {
            for row in (column + 1..SIZE).rev() {
                let triangle = &mut factors.triangle;
                let above = triangle[row - 1][column];
                if let Some(rotation) = Rotation::new(above, triangle[row][column]) {
                    rotation.apply(triangle, row);
                    rotation.apply(&mut factors.turn, row);
                    factors.triangle[row][column] = 0.0;
                }
            }
        }
        factors
    }
}

/// A rotation of two rows.
struct Rotation {
    cosine: f32,
    sine: f32,
}

impl Rotation {
    /// The one that makes the lower of two numbers zero; `None` if it is.
    fn new(upper: f32, lower: f32) -> Option<Rotation> {
        if lower == 0.0 {
            return None;
        }
        let length = (upper * upper + lower * lower).sqrt();
        Some(Rotation {
            cosine: upper / length,
            sine: lower / length,
        })
    }

    /// Turns a row and the one above it.
    fn apply(&self, rows: &mut Square, row: usize) {
        let (above, below) = rows.split_at_mut(row);
        for (a, b) in above[row - 1].iter_mut().zip(&mut below[0]) {
            (*a, *b) = (
                self.cosine * *a + self.sine * *b,
                self.cosine * *b - self.sine * *a,
            );
        }
    }
}

/// Takes each matrix apart.
#[kernel]
pub fn givens_qr(matrices: &[Square], mut factors: PerThread<[Factors]>) {
    if let Some((matrix, to)) = matrices.get(thread::index()).zip(factors.mine()) {
        *to = Factors::of(matrix);
    }
}
