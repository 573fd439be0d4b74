//! Rows divided by their root mean square.

use super::prelude::*;
use half::f16;

case!(rms_norm: "rows of f16 over their root mean square, a warp a row", "rows", simulator [9, 1], gpu 1 << 15);

const COLUMNS: usize = 1000;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let halves = |seed, count| -> Vec<f16> {
        let values = draw::<f32>(seed, count).into_iter();
        values.map(f16::from_f32).collect()
    };
    let (x, weights) = (halves(1, rows * COLUMNS), halves(2, COLUMNS));
    let want = x
        .chunks_exact(COLUMNS)
        .flat_map(|row| {
            let squares: f64 = row.iter().map(|x| x.to_f64() * x.to_f64()).sum();
            let root = (squares / COLUMNS as f64 + 1e-5).sqrt();
            let scaled = row.iter().zip(&weights);
            scaled.map(move |(x, weight)| x.to_f64() / root * weight.to_f64())
        })
        .collect();
    let check = nearly::<f32>(want, 1.0 / 1024.0);
    let kernel = session.pair(kernels::rms_norm::rms_norm, "rms_norm")?;
    let x = session.stream.upload(&x)?;
    let weights = session.stream.upload(&weights)?;
    problem(
        session,
        format!("{rows} rows of {COLUMNS}"),
        &vec![f16::NAN; rows * COLUMNS],
        move |session, side, out| {
            let grid = Grid::cover(rows * 32, 256);
            let x = x.matrix(rows, COLUMNS)?;
            let out = out.matrix_mut(rows, COLUMNS)?;
            launch_pair!(session, side, kernel, grid, (x, &weights, out));
            Ok(())
        },
        move |got| check(&got.iter().map(|x| x.to_f32()).collect::<Vec<_>>()),
    )
}
