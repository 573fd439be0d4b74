//! Running sums of the rows of a picture.

use super::prelude::*;

case!(integral_rows: "running sums of the rows of a picture, a warp a row", "rows", simulator [9, 1], gpu 1 << 13);

/// Columns: no multiple of a warp.
const COLUMNS: usize = 5000;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let picture = draw::<u8>(1, rows * COLUMNS);
    let of_row = |row: &[u8]| -> Vec<u32> {
        let sums = row.iter().scan(0, |sum, &pixel| {
            *sum += u32::from(pixel);
            Some(*sum)
        });
        sums.collect()
    };
    let want = picture.chunks_exact(COLUMNS).flat_map(of_row).collect();
    let kernel = session.pair(kernels::integral_rows::integral_rows, "integral_rows")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{rows} rows of {COLUMNS}"),
        &vec![0u32; rows * COLUMNS],
        move |session, side, sums| {
            let grid = Grid::cover(rows * 32, 256);
            let picture = picture.matrix(rows, COLUMNS)?;
            let sums = sums.matrix_mut(rows, COLUMNS)?;
            launch_pair!(session, side, kernel, grid, (picture, sums));
            Ok(())
        },
        exactly(want),
    )
}
