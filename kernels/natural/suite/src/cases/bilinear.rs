//! A picture in another size.

use super::prelude::*;

case!(bilinear: "a picture in another size", "columns of the result", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let (from_rows, from_columns) = (rows * 2 / 3 + 1, columns * 2 / 3 + 1);
    let picture = draw::<f32>(1, from_rows * from_columns);
    let scale = |from: usize, to: usize| from as f32 / to as f32;
    let place = |i: usize, scale: f32| ((i as f32 + 0.5) * scale - 0.5).max(0.0);
    let pixel = |i: usize| {
        let x = place(i % columns, scale(from_columns, columns));
        let y = place(i / columns, scale(from_rows, rows));
        let at = |dy: usize, dx: usize| {
            let row = (y as usize + dy).min(from_rows - 1);
            let column = (x as usize + dx).min(from_columns - 1);
            f64::from(picture[row * from_columns + column])
        };
        let (fx, fy) = (f64::from(x.fract()), f64::from(y.fract()));
        let upper = at(0, 0) * (1.0 - fx) + at(0, 1) * fx;
        let lower = at(1, 0) * (1.0 - fx) + at(1, 1) * fx;
        upper * (1.0 - fy) + lower * fy
    };
    // A place is known to about a thousandth of a pixel where the picture is large.
    let want = (0..rows * columns).map(pixel).collect();
    let kernel = session.pair(kernels::bilinear::bilinear, "bilinear")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{from_rows} x {from_columns} to {rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let picture = picture.matrix(from_rows, from_columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, out));
            Ok(())
        },
        nearly(want, 5e-3),
    )
}
