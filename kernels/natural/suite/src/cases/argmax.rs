//! Where the largest values of rows are.

use super::prelude::*;

case!(argmax: "the largest value's place, a warp a row", "rows", simulator [9, 1], gpu 1 << 15);

const COLUMNS: usize = 2000;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let x = draw::<f32>(1, rows * COLUMNS);
    let want = x
        .chunks_exact(COLUMNS)
        .map(|row| {
            let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter().zip(0u32..).find(|&(&x, _)| x == max)
        })
        .map(|found| found.map_or(u32::MAX, |(_, column)| column))
        .collect();
    let kernel = session.pair(kernels::argmax::argmax, "argmax")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{rows} x {COLUMNS}"),
        &vec![u32::MAX; rows],
        move |session, side, places| {
            let grid = Grid::cover(rows * 32, 256);
            let x = x.matrix(rows, COLUMNS)?;
            launch_pair!(session, side, kernel, grid, (x, places));
            Ok(())
        },
        exactly(want),
    )
}
