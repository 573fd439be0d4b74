//! A picture blurred by a bell curve.

use super::prelude::*;

case!(separable_blur: "a blur along rows, then along columns, in shared tiles", "columns", simulator [40, 1], gpu 1 << 13);

const WEIGHTS: [f32; 9] = [0.02, 0.06, 0.12, 0.18, 0.24, 0.18, 0.12, 0.06, 0.02];

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let picture = draw::<f32>(1, rows * columns);
    let near =
        |place: usize, i: usize, length: usize| (place + i).saturating_sub(4).min(length - 1);
    let blurred = |read: &dyn Fn(usize) -> f64| -> f64 {
        let weights = WEIGHTS.iter().enumerate();
        weights.map(|(i, &w)| f64::from(w) * read(i)).sum()
    };
    let along_rows: Vec<f64> = (0..rows * columns)
        .map(|at| {
            let (row, column) = (at / columns, at % columns);
            blurred(&|i| f64::from(picture[row * columns + near(column, i, columns)]))
        })
        .collect();
    let want = (0..rows * columns)
        .map(|at| {
            let (row, column) = (at / columns, at % columns);
            blurred(&|i| along_rows[near(row, i, rows) * columns + column])
        })
        .collect();
    let kernel = session.pair(kernels::separable_blur::separable_blur, "separable_blur")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (16, 16));
            let picture = picture.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, WEIGHTS, out));
            Ok(())
        },
        nearly(want, 1e-5),
    )
}
