//! Rows as bytes.

use super::prelude::*;

case!(quantize_rows: "rows as bytes with a scale each, a warp a row", "rows", simulator [9, 1], gpu 40_000);

const COLUMNS: usize = 1000;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let mut x = draw::<f32>(1, rows * COLUMNS);
    for (i, row) in x.chunks_exact_mut(COLUMNS).enumerate() {
        // A few rows are empty, the others of different size.
        let scale = (i * 7 % 13) as f32 * 0.3;
        row.iter_mut().for_each(|x| *x *= scale);
    }
    let want = x
        .chunks_exact(COLUMNS)
        .flat_map(|row| {
            let largest = row.iter().fold(0f32, |largest, x| largest.max(x.abs()));
            let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            row.iter()
                .map(move |x| (x * inverse).round_ties_even() as i8)
        })
        .collect();
    let kernel = session.pair(kernels::quantize_rows::quantize_rows, "quantize_rows")?;
    let x = session.stream.upload(&x)?;
    let mut scales = session.stream.upload(&vec![f32::NAN; rows])?;
    problem(
        session,
        format!("{rows} rows of {COLUMNS}"),
        &vec![99i8; rows * COLUMNS],
        move |session, side, out| {
            let grid = Grid::cover(rows * 32, 256);
            let x = x.matrix(rows, COLUMNS)?;
            let out = out.matrix_mut(rows, COLUMNS)?;
            launch_pair!(session, side, kernel, grid, (x, &mut scales, out));
            Ok(())
        },
        exactly(want),
    )
}
