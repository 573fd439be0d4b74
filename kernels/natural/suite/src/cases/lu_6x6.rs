//! Small linear systems.

use super::prelude::*;
use kernels::lu_6x6::SIZE;

case!(lu_6x6: "systems of 6 unknowns, by elimination with pivots", "systems", simulator [60, 1], gpu 1 << 19);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut numbers = draw::<f32>(1, SIZE * SIZE * n);
    let matrices: &mut [[[f32; SIZE]; SIZE]] = numbers.as_chunks_mut().0.as_chunks_mut().0;
    for matrix in matrices.iter_mut() {
        // Large off the diagonal: rows are exchanged, and the solution is not far off.
        for (i, row) in matrix.iter_mut().enumerate() {
            row[(i + 2) % SIZE] += 5.0;
        }
    }
    let solutions = draw::<f32>(2, SIZE * n);
    let mut rights = vec![[0.0f32; SIZE]; n];
    for ((right, matrix), x) in rights
        .iter_mut()
        .zip(matrices.iter())
        .zip(solutions.chunks_exact(SIZE))
    {
        for (right, row) in right.iter_mut().zip(matrix) {
            let products = row
                .iter()
                .zip(x)
                .map(|(&a, &x)| f64::from(a) * f64::from(x));
            *right = products.sum::<f64>() as f32;
        }
    }
    let want = solutions.into_iter().map(f64::from).collect();
    let check = nearly::<f32>(want, 1e-4);
    let kernel = session.pair(kernels::lu_6x6::lu_6x6, "lu_6x6")?;
    let matrices = session.stream.upload(matrices)?;
    let rights = session.stream.upload(&rights)?;
    problem(
        session,
        format!("{n} systems"),
        &vec![[f32::NAN; SIZE]; n],
        move |session, side, solutions| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&matrices, &rights, solutions));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
