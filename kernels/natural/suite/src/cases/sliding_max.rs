//! The largest value of a window that slides.

use super::prelude::*;
use kernels::sliding_max::WINDOW;
use warpsmith_suite::check::equal;

case!(sliding_max: "the largest of 9 neighbours, and its place", "columns", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let (rows, from) = (columns / 2 + 3, columns + WINDOW - 1);
    let x: Vec<i16> = below(1, rows * from, 300)
        .iter()
        .map(|&x| x as i16 - 100)
        .collect();
    let mut want = Vec::new();
    for row in x.chunks_exact(from) {
        for window in row.windows(WINDOW) {
            let max = window.iter().copied().fold(i16::MIN, i16::max);
            let place = window.iter().position(|&x| x == max).unwrap_or(0);
            want.extend([max, place as i16]);
        }
    }
    let kernel = session.pair(kernels::sliding_max::sliding_max, "sliding_max")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![[i16::MIN; 2]; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let x = x.matrix(rows, from)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (x, out));
            Ok(())
        },
        move |got| equal(got.as_flattened(), &want),
    )
}
