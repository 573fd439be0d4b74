//! The largest elements of columns.

use super::prelude::*;
use kernels::top_k::K;

case!(top_k: "the eight largest elements of each column", "columns", simulator [60, 1], gpu 1 << 17);

const ROWS: usize = 300;

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let x = draw::<f32>(1, ROWS * columns);
    let of_column = |column: usize| {
        let mut all: Vec<f32> = x.iter().copied().skip(column).step_by(columns).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        all.truncate(K);
        all.into_iter().map(f64::from)
    };
    let want = (0..columns).flat_map(of_column).collect();
    let check = nearly::<f32>(want, 0.0);
    let kernel = session.pair(kernels::top_k::top_k, "top_k")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{ROWS} x {columns}"),
        &vec![[f32::NAN; K]; columns],
        move |session, side, largest| {
            let grid = Grid::cover(columns, 256);
            let x = x.matrix(ROWS, columns)?;
            launch_pair!(session, side, kernel, grid, (x, largest));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
