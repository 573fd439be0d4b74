//! The product of a sparse matrix and a vector.

use super::prelude::*;
use crate::problem::Sparse;

case!(spmv: "sparse matrix by vector, a warp a row", "rows", simulator [40, 1], gpu 1 << 18);

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let matrix = Sparse::draw(1, rows, 100);
    let (values, x) = (draw::<f32>(3, matrix.places.len()), draw::<f32>(4, rows));
    let of_row = |row: usize| -> f64 {
        matrix
            .row(row)
            .map(|at| f64::from(values[at]) * f64::from(x[matrix.places[at] as usize]))
            .sum()
    };
    let want = (0..rows).map(of_row).collect();
    let kernel = session.pair(kernels::spmv::spmv, "spmv")?;
    let starts = session.stream.upload(&matrix.starts)?;
    let columns = session.stream.upload(&matrix.places)?;
    let (values, x) = (session.stream.upload(&values)?, session.stream.upload(&x)?);
    problem(
        session,
        format!("{rows} rows, {} entries", columns.len()),
        &vec![f32::NAN; rows],
        move |session, side, y| {
            let grid = Grid::cover(rows * 32, 256);
            let arguments = (&starts, &columns, &values, &x, y);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        nearly(want, 1e-4),
    )
}
