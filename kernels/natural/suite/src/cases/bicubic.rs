//! A picture made larger.

use super::prelude::*;

case!(bicubic: "a picture made larger by cubic curves", "columns", simulator [30, 2], gpu 1 << 13);

const SCALE: f32 = 1.5;

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let (from_rows, from_columns) = ((rows * 2).div_ceil(3), (columns * 2).div_ceil(3));
    let picture: Vec<f32> = draw::<f32>(1, from_rows * from_columns)
        .iter()
        .map(|x| x.abs())
        .collect();
    let weight = |distance: f64| {
        let d = distance.abs();
        if d < 1.0 {
            1.5 * d * d * d - 2.5 * d * d + 1.0
        } else {
            -0.5 * d * d * d + 2.5 * d * d - 4.0 * d + 2.0
        }
    };
    let of_pixel = |i: usize| {
        let y = f64::from((i / columns) as f32 / SCALE);
        let x = f64::from((i % columns) as f32 / SCALE);
        let mut sum = 0.0;
        for dy in -1..3 {
            for dx in -1..3 {
                let (at_y, at_x) = (y.floor() as i64 + dy, x.floor() as i64 + dx);
                let near_y = at_y.clamp(0, from_rows as i64 - 1) as usize;
                let near_x = at_x.clamp(0, from_columns as i64 - 1) as usize;
                let pixel = f64::from(picture[near_y * from_columns + near_x]);
                sum += weight(at_y as f64 - y) * weight(at_x as f64 - x) * pixel;
            }
        }
        sum.clamp(0.0, 1.0)
    };
    let want = (0..rows * columns).map(of_pixel).collect();
    let kernel = session.pair(kernels::bicubic::bicubic, "bicubic")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{from_rows} x {from_columns} to {rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, large| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let picture = picture.matrix(from_rows, from_columns)?;
            let large = large.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, SCALE, large));
            Ok(())
        },
        nearly(want, 1e-3),
    )
}
