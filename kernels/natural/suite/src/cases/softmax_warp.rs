//! Softmax of rows, a warp a row.

use super::prelude::*;

case!(softmax_warp: "softmax of rows, a warp a row", "rows", simulator [9, 1], gpu 1 << 15);

/// Columns: no multiple of a warp, so that the last round is not full.
const COLUMNS: usize = 1000;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let x = draw::<f32>(1, rows * COLUMNS);
    let kernel = session.pair(kernels::softmax_warp::softmax_warp, "softmax_warp")?;
    let on_device = session.stream.upload(&x)?;
    problem(
        session,
        format!("{rows} rows of {COLUMNS}"),
        &vec![f32::NAN; rows * COLUMNS],
        move |session, side, out| {
            let grid = Grid::cover(rows * 32, 256);
            let x = on_device.matrix(rows, COLUMNS)?;
            let out = out.matrix_mut(rows, COLUMNS)?;
            launch_pair!(session, side, kernel, grid, (x, out));
            Ok(())
        },
        nearly(softmax(&x, COLUMNS), 1e-5),
    )
}

/// Softmax of each row.
pub(super) fn softmax(x: &[f32], columns: usize) -> Vec<f64> {
    x.chunks_exact(columns)
        .flat_map(|row| {
            let exponentials: Vec<f64> = row.iter().map(|&x| f64::from(x).exp()).collect();
            let sum: f64 = exponentials.iter().sum();
            exponentials.into_iter().map(move |e| e / sum)
        })
        .collect()
}
