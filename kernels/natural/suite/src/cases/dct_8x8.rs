//! The cosine transform of squares.

use super::prelude::*;
use std::f64::consts::PI;

case!(dct_8x8: "the cosine transform of squares of 8 x 8 bytes", "columns", simulator [40, 8], gpu 1 << 12);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns.div_ceil(16) * 8;
    let picture = draw::<u8>(1, rows * columns);
    let cosine = |frequency: usize, place: usize| match frequency {
        0 => 0.125f64.sqrt(),
        _ => 0.5 * ((2 * place + 1) as f64 * frequency as f64 * PI / 16.0).cos(),
    };
    let table: [[f64; 8]; 8] =
        std::array::from_fn(|frequency| std::array::from_fn(|place| cosine(frequency, place)));
    let mut want = vec![0.0; rows * columns];
    for (top, left) in (0..rows)
        .step_by(8)
        .flat_map(|top| (0..columns).step_by(8).map(move |left| (top, left)))
    {
        let pixel = |y: usize, x: usize| match left + x < columns {
            true => f64::from(picture[(top + y) * columns + left + x]) - 128.0,
            false => 0.0,
        };
        let along_rows: [[f64; 8]; 8] = std::array::from_fn(|y| {
            std::array::from_fn(|u| (0..8).map(|x| table[u][x] * pixel(y, x)).sum())
        });
        for v in 0..8 {
            for u in 0..8.min(columns - left) {
                want[(top + v) * columns + left + u] =
                    (0..8).map(|y| table[v][y] * along_rows[y][u]).sum();
            }
        }
    }
    let kernel = session.pair(kernels::dct_8x8::dct_8x8, "dct_8x8")?;
    let picture = session.stream.upload(&picture)?;
    // A sum of 64 products of up to 128.
    let check = nearly::<f32>(want, 1e-3);
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (8, 32));
            let picture = picture.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, out));
            Ok(())
        },
        check,
    )
}
