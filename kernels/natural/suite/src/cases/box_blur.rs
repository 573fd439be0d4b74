//! A picture blurred.

use super::prelude::*;

case!(box_blur: "the mean of a square around each pixel", "columns", simulator [30, 1], gpu 1 << 12);

const RADIUS: usize = 3;

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let picture = draw::<f32>(1, rows * columns);
    let mean = |i: usize| {
        let near = |place: usize, length: usize| {
            place.saturating_sub(RADIUS)..(place + RADIUS + 1).min(length)
        };
        let (ys, xs) = (near(i / columns, rows), near(i % columns, columns));
        let count = (ys.len() * xs.len()) as f64;
        let pixels = ys.flat_map(|y| xs.clone().map(move |x| y * columns + x));
        pixels.map(|at| f64::from(picture[at])).sum::<f64>() / count
    };
    let want = (0..rows * columns).map(mean).collect();
    let kernel = session.pair(kernels::box_blur::box_blur, "box_blur")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{rows} x {columns}, radius {RADIUS}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let picture = picture.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, RADIUS, out));
            Ok(())
        },
        nearly(want, 1e-5),
    )
}
