//! Small matrices taken apart into turns and triangles.

use super::prelude::*;
use crate::problem::product;
use kernels::givens_qr::{Factors, SIZE, Square};
use std::array::from_fn;
use warpsmith_suite::check::close;

case!(givens_qr: "QR of 4 x 4 matrices by Givens rotations", "matrices", simulator [60, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let matrices: Vec<Square> = draw::<f32>(1, SIZE * SIZE * n)
        .as_chunks()
        .0
        .iter()
        .map(|x: &[f32; SIZE * SIZE]| {
            // Some elements are zero from the start.
            from_fn(|i| {
                from_fn(|j| {
                    if x[SIZE * i + j] > 0.75 {
                        0.0
                    } else {
                        x[SIZE * i + j]
                    }
                })
            })
        })
        .collect();
    let step = n.div_ceil(50_000);
    let sample: Vec<Square> = matrices.iter().step_by(step).copied().collect();
    let kernel = session.pair(kernels::givens_qr::givens_qr, "givens_qr")?;
    let matrices = session.stream.upload(&matrices)?;
    let empty = Factors {
        turn: [[f32::NAN; SIZE]; SIZE],
        triangle: [[f32::NAN; SIZE]; SIZE],
    };
    problem(
        session,
        format!("{n} matrices"),
        &vec![empty; n],
        move |session, side, factors| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&matrices, factors));
            Ok(())
        },
        move |got| {
            // The turn's rows are orthogonal and turn the matrix into the triangle, which has zeros below the diagonal.
            let differences: Vec<f64> = sample
                .iter()
                .zip(got.iter().step_by(step))
                .flat_map(|(matrix, Factors { turn, triangle })| {
                    let transposed = from_fn(|i| from_fn(|j| turn[j][i]));
                    let (turned, squared) = (product(turn, matrix), product(turn, &transposed));
                    (0..SIZE * SIZE).flat_map(move |at| {
                        let (i, j) = (at / SIZE, at % SIZE);
                        let below = if i > j {
                            f64::from(triangle[i][j])
                        } else {
                            0.0
                        };
                        [
                            turned[i][j] - f64::from(triangle[i][j]),
                            squared[i][j] - f64::from(u8::from(i == j)),
                            below,
                        ]
                    })
                })
                .collect();
            close(&differences, |_| (0.0, 1e-5), |i| i.to_string())
        },
    )
}
