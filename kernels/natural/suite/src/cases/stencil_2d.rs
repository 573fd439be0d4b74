//! A step of Jacobi's method.

use super::prelude::*;

case!(stencil_2d: "a stencil of five points", "columns", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let x = draw::<f32>(1, rows * columns);
    let at = |row: usize, column: usize| f64::from(x[row * columns + column]);
    let step = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        if row == 0 || column == 0 || row + 1 == rows || column + 1 == columns {
            return at(row, column);
        }
        let vertical = at(row - 1, column) + at(row + 1, column);
        0.25 * (vertical + at(row, column - 1) + at(row, column + 1))
    };
    let want = (0..rows * columns).map(step).collect();
    let kernel = session.pair(kernels::stencil_2d::stencil_2d, "stencil_2d")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let x = x.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (x, out));
            Ok(())
        },
        nearly(want, 1e-6),
    )
}
