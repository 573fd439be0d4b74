//! Edges of a picture.

use super::prelude::*;

case!(sobel: "Sobel's filter of bytes", "columns", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let picture = draw::<u8>(1, rows * columns);
    let edge = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        if row == 0 || column == 0 || row + 1 == rows || column + 1 == columns {
            return 0;
        }
        let at =
            |dy: usize, dx: usize| i32::from(picture[(row + dy - 1) * columns + column + dx - 1]);
        let weights = [1, 2, 1];
        let gx: i32 = (0..3).map(|i| weights[i] * (at(i, 2) - at(i, 0))).sum();
        let gy: i32 = (0..3).map(|i| weights[i] * (at(2, i) - at(0, i))).sum();
        ((gx * gx + gy * gy) as f32).sqrt().min(255.0) as u8
    };
    let want = (0..rows * columns).map(edge).collect();
    let kernel = session.pair(kernels::sobel::sobel, "sobel")?;
    let picture = session.stream.upload(&picture)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![99u8; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let picture = picture.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (picture, out));
            Ok(())
        },
        exactly(want),
    )
}
