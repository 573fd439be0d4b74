//! Bright parts of a picture grow.

use super::prelude::*;
use kernels::dilation::{HEIGHT, RADIUS, WIDTH};

case!(dilation: "the brightest of 5 x 5 pixels, in shared tiles", "columns", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let picture = draw::<u8>(1, rows * columns);
    let around = |place: usize, length: usize| {
        place.saturating_sub(RADIUS)..(place + RADIUS + 1).min(length)
    };
    // Along rows, then along columns.
    let along_rows: Vec<u8> = picture
        .chunks_exact(columns)
        .flat_map(|row| {
            (0..columns).map(|column| {
                row[around(column, columns)]
                    .iter()
                    .fold(0, |a, &b| b.max(a))
            })
        })
        .collect();
    let mut want = vec![0u8; rows * columns];
    for (row, want) in want.chunks_exact_mut(columns).enumerate() {
        for from in around(row, rows) {
            let from = &along_rows[from * columns..][..columns];
            for (brightest, &pixel) in want.iter_mut().zip(from) {
                *brightest = pixel.max(*brightest);
            }
        }
    }
    let kernel = session.pair(kernels::dilation::dilation, "dilation")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![0u8; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (WIDTH as u32, HEIGHT as u32));
            let picture = picture.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, out));
            Ok(())
        },
        exactly(want),
    )
}
