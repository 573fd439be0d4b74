//! The product of a matrix and a vector in half precision.

use super::prelude::*;
use half::f16;

case!(gemv_f16: "matrix by vector in f16, a warp a row", "rows", simulator [9, 1], gpu 1 << 14);

const COLUMNS: usize = 2000;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let (a, x) = (draw::<f16>(1, rows * COLUMNS), draw::<f16>(2, COLUMNS));
    let of_row = |row: &[f16]| -> f64 {
        row.iter()
            .zip(&x)
            .map(|(a, x)| a.to_f64() * x.to_f64())
            .sum()
    };
    let want = a.chunks_exact(COLUMNS).map(of_row).collect();
    let kernel = session.pair(kernels::gemv_f16::gemv_f16, "gemv_f16")?;
    let (a, x) = (session.stream.upload(&a)?, session.stream.upload(&x)?);
    problem(
        session,
        format!("{rows} x {COLUMNS}"),
        &vec![f32::NAN; rows],
        move |session, side, y| {
            let grid = Grid::cover(rows * 32, 256);
            let a = a.matrix(rows, COLUMNS)?;
            launch_pair!(session, side, kernel, grid, (a, &x, y));
            Ok(())
        },
        nearly(want, 1e-4),
    )
}
