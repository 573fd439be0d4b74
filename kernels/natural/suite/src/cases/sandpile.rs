//! A step of a sand pile.

use super::prelude::*;

case!(sandpile: "a step of a sand pile", "columns", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let grains = below(1, rows * columns, 5);
    let falls = |row: usize, column: usize| {
        let is_inside = row < rows && column < columns;
        u32::from(is_inside && grains[row * columns + column] >= 4)
    };
    let of_place = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let received = falls(row.wrapping_sub(1), column)
            + falls(row + 1, column)
            + falls(row, column.wrapping_sub(1))
            + falls(row, column + 1);
        grains[i] - 4 * falls(row, column) + received
    };
    let want = (0..rows * columns).map(of_place).collect();
    let kernel = session.pair(kernels::sandpile::sandpile, "sandpile")?;
    let grains = session.stream.upload(&grains)?;
    let mut fell = session.stream.upload(&[0u32])?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![u32::MAX; rows * columns],
        move |session, side, new| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let grains = grains.matrix(rows, columns)?;
            let new = new.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (grains, &mut fell, new));
            Ok(())
        },
        exactly(want),
    )
}
