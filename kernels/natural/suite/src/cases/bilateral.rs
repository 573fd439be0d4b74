//! A picture smoothed where it has no edges.

use super::prelude::*;
use kernels::bilateral::RADIUS;

case!(bilateral: "a picture smoothed between its edges", "columns", simulator [30, 1], gpu 1 << 12);

const NEAR: f32 = 0.1;
const ALIKE: f32 = 2.0;

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let picture = draw::<f32>(1, rows * columns);
    let of_pixel = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let reach = RADIUS as usize;
        let near = |place: usize, length: usize| {
            place.saturating_sub(reach)..(place + reach + 1).min(length)
        };
        let (mut sum, mut total) = (0.0, 0.0);
        for y in near(row, rows) {
            for x in near(column, columns) {
                let pixel = f64::from(picture[y * columns + x]);
                let squares = (y.abs_diff(row).pow(2) + x.abs_diff(column).pow(2)) as f64;
                let difference = pixel - f64::from(picture[i]);
                let exponent =
                    squares * f64::from(NEAR) + difference * difference * f64::from(ALIKE);
                sum += (-exponent).exp() * pixel;
                total += (-exponent).exp();
            }
        }
        sum / total
    };
    // The oracle of a large picture takes pixels here and there.
    let step = (rows * columns).div_ceil(100_000);
    let want = (0..rows * columns).step_by(step).map(of_pixel).collect();
    let check = nearly::<f32>(want, 1e-5);
    let kernel = session.pair(kernels::bilateral::bilateral, "bilateral")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let picture = picture.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, NEAR, ALIKE, out));
            Ok(())
        },
        every(step, check),
    )
}
