//! Conway's game of life.

use super::prelude::*;

case!(life: "the game of life on a torus", "columns", simulator [40, 2], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let old: Vec<u8> = below(1, rows * columns, 2)
        .iter()
        .map(|&c| c as u8)
        .collect();
    let next = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let around = [
            (0, 0),
            (0, 1),
            (0, 2),
            (1, 0),
            (1, 2),
            (2, 0),
            (2, 1),
            (2, 2),
        ];
        let neighbours: u8 = around
            .iter()
            .map(|(dy, dx)| {
                let (y, x) = (
                    (row + rows + dy - 1) % rows,
                    (column + columns + dx - 1) % columns,
                );
                old[y * columns + x]
            })
            .sum();
        u8::from(neighbours == 3 || (neighbours == 2 && old[i] == 1))
    };
    let want = (0..rows * columns).map(next).collect();
    let kernel = session.pair(kernels::life::life, "life")?;
    let old = session.stream.upload(&old)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![9u8; rows * columns],
        move |session, side, new| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let old = old.matrix(rows, columns)?;
            let new = new.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (old, new));
            Ok(())
        },
        exactly(want),
    )
}
