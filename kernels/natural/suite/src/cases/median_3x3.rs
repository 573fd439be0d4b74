//! A picture without specks.

use super::prelude::*;

case!(median_3x3: "the median of nine bytes", "columns", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let picture = draw::<u8>(1, rows * columns);
    let median = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        if row == 0 || column == 0 || row + 1 == rows || column + 1 == columns {
            return picture[i];
        }
        let mut window: Vec<u8> = (row - 1..=row + 1)
            .flat_map(|y| picture[y * columns + column - 1..=y * columns + column + 1].to_vec())
            .collect();
        window.sort_unstable();
        window[4]
    };
    let want = (0..rows * columns).map(median).collect();
    let kernel = session.pair(kernels::median_3x3::median_3x3, "median_3x3")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![99u8; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let picture = picture.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, out));
            Ok(())
        },
        exactly(want),
    )
}
