//! Eigenvalues of small matrices.

use super::prelude::*;
use warpsmith_suite::check::close;

case!(jacobi_3x3: "eigenvalues of symmetric 3 x 3 matrices", "matrices", simulator [60, 1], gpu 1 << 20);

type Square = [[f64; 3]; 3];

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let matrices: Vec<Square> = draw::<f32>(1, 6 * n)
        .chunks_exact(6)
        .map(|x| [[x[0], x[1], x[2]], [x[1], x[3], x[4]], [x[2], x[4], x[5]]])
        .map(|matrix| matrix.map(|row| row.map(f64::from)))
        .collect();
    // The sums of the eigenvalues, of their squares and of their cubes are the traces of the matrix and of its powers.
    let traces: Vec<[f64; 3]> = matrices
        .iter()
        .map(|a| {
            let square = product(a, a);
            [trace(a), trace(&square), trace(&product(a, &square))]
        })
        .collect();
    let kernel = session.pair(kernels::jacobi_3x3::jacobi_3x3, "jacobi_3x3")?;
    let matrices = session.stream.upload(&matrices)?;
    problem(
        session,
        format!("{n} matrices"),
        &vec![[f64::NAN; 3]; n],
        move |session, side, values| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&matrices, values));
            Ok(())
        },
        move |got| {
            // Where they are not in order it is wrong, whatever the sums are.
            let sums: Vec<f64> = got
                .iter()
                .flat_map(|values| {
                    let is_sorted = values.is_sorted();
                    [1, 2, 3].map(|power| match is_sorted {
                        true => values.iter().map(|value| value.powi(power)).sum(),
                        false => f64::NAN,
                    })
                })
                .collect();
            let oracle = |i: usize| (traces[i / 3][i % 3], 1e-10);
            close(&sums, oracle, |i| i.to_string())
        },
    )
}

fn product(a: &Square, b: &Square) -> Square {
    let element = |i: usize, j: usize| (0..3).map(|k| a[i][k] * b[k][j]).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| element(i, j)))
}

fn trace(a: &Square) -> f64 {
    (0..3).map(|i| a[i][i]).sum()
}
