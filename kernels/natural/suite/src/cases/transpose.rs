//! The transpose of a matrix.

use super::prelude::*;

case!(transpose: "the transpose of a matrix, through shared tiles", "columns", simulator [70, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let from = draw::<f32>(1, rows * columns);
    let want = (0..rows * columns)
        .map(|i| f64::from(from[i % rows * columns + i / rows]))
        .collect();
    let kernel = session.pair(kernels::transpose::transpose, "transpose")?;
    let from = session.stream.upload(&from)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, to| {
            let blocks = (rows.div_ceil(32) as u32, columns.div_ceil(32) as u32);
            let from = from.matrix(rows, columns)?;
            let to = to.matrix_mut(columns, rows)?;
            launch_pair!(
                session,
                side,
                kernel,
                Grid::new(blocks, (32, 8)),
                (from, to)
            );
            Ok(())
        },
        nearly(want, 0.0),
    )
}
