//! The Mandelbrot set.

use super::prelude::*;
use warpsmith_suite::check::{Mismatch, Verified};

case!(mandelbrot: "the Mandelbrot set", "columns", simulator [40, 1], gpu 1 << 11);

const LIMIT: u32 = 200;
const CORNER: (f32, f32) = (-2.0, -1.25);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns.div_ceil(2);
    let step = 2.5 / columns as f32;
    let kernel = session.pair(kernels::mandelbrot::mandelbrot, "mandelbrot")?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![0u32; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let out = out.matrix_mut(rows, columns)?;
            let arguments = (CORNER.0, CORNER.1, step, LIMIT, out);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        move |got| most_agree(got, columns, step),
    )
}

/// Near the set the count depends on the last bit, and so on how operations are fused: nearly all must agree.
fn most_agree(got: &[u32], columns: usize, step: f32) -> Result<Verified, Mismatch> {
    let is_other = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        got[i]
            != count(
                CORNER.0 + column as f32 * step,
                CORNER.1 + row as f32 * step,
            )
    };
    let others: Vec<usize> = (0..got.len()).filter(|&i| is_other(i)).collect();
    match others.first() {
        Some(first) if others.len() > got.len() / 50 => Err(Mismatch {
            position: first.to_string(),
            got: got[*first].to_string(),
            want: "another count".into(),
            tolerance: "2% of the points".into(),
            wrong: others.len() as u64,
            elements: got.len() as u64,
        }),
        _ => Ok(Verified {
            elements: got.len() as u64,
            worst: 50.0 * others.len() as f64 / got.len() as f64,
        }),
    }
}

fn count(cx: f32, cy: f32) -> u32 {
    let (mut zx, mut zy) = (0.0f32, 0.0f32);
    let mut count = 0;
    while count < LIMIT && zx * zx + zy * zy < 4.0 {
        (zx, zy) = (zx * zx - zy * zy + cx, 2.0 * zx * zy + cy);
        count += 1;
    }
    count
}
