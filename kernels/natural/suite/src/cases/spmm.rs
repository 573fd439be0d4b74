//! The product of a sparse matrix and a narrow dense one.

use super::prelude::*;
use crate::problem::Sparse;
use kernels::spmm::COLUMNS;

case!(spmm: "sparse matrix by a dense one of 8 columns, a thread a row", "rows", simulator [60, 1], gpu 1 << 18);

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let matrix = Sparse::draw(1, rows, 30);
    let values = draw::<f32>(3, matrix.places.len());
    let dense: Vec<[f32; COLUMNS]> = draw::<f32>(4, rows * COLUMNS).as_chunks().0.to_vec();
    let step = rows.div_ceil(50_000);
    let want = (0..rows)
        .step_by(step)
        .flat_map(|row| {
            let mut sums = [0.0f64; COLUMNS];
            for at in matrix.row(row) {
                let other = dense[matrix.places[at] as usize];
                for (sum, x) in sums.iter_mut().zip(other) {
                    *sum += f64::from(values[at]) * f64::from(x);
                }
            }
            sums
        })
        .collect();
    let check = nearly::<f32>(want, 1e-4);
    let kernel = session.pair(kernels::spmm::spmm, "spmm")?;
    let starts = session.stream.upload(&matrix.starts)?;
    let columns = session.stream.upload(&matrix.places)?;
    let values = session.stream.upload(&values)?;
    let dense = session.stream.upload(&dense)?;
    problem(
        session,
        format!("{rows} rows, {} entries", columns.len()),
        &vec![[f32::NAN; COLUMNS]; rows],
        move |session, side, product| {
            let grid = Grid::cover(rows, 256);
            let arguments = (&starts, &columns, &values, &dense, product);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every_array(step, check),
    )
}
