//! A picture folded with a filter of 5 x 5.

use super::prelude::*;
use kernels::conv_5x5::{SIDE, TAPS};

case!(conv_5x5: "a picture folded with a filter of 5 x 5", "columns", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let picture = draw::<f32>(1, rows * columns);
    let taps = draw::<f32>(2, TAPS * TAPS);
    let filter: [[f32; TAPS]; TAPS] =
        std::array::from_fn(|y| std::array::from_fn(|x| taps[y * TAPS + x]));
    let of_pixel = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let mut sum = 0.0;
        for (dy, weights) in filter.iter().enumerate() {
            for (dx, &weight) in weights.iter().enumerate() {
                let (y, x) = (row + dy, column + dx);
                if y >= 2 && x >= 2 && y - 2 < rows && x - 2 < columns {
                    let pixel = picture[(y - 2) * columns + x - 2];
                    sum += f64::from(weight) * f64::from(pixel);
                }
            }
        }
        sum
    };
    let want = (0..rows * columns).map(of_pixel).collect();
    let kernel = session.pair(kernels::conv_5x5::conv_5x5, "conv_5x5")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (SIDE as u32, SIDE as u32));
            let picture = picture.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, filter, out));
            Ok(())
        },
        nearly(want, 1e-5),
    )
}
