//! The product of two matrices.

use super::prelude::*;
use kernels::matmul_tiled::TILE;

case!(matmul_tiled: "a product of matrices through shared tiles", "columns", simulator [40, 1], gpu 1 << 10);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let (rows, depth) = (columns / 2 + 3, columns + 5);
    let (a, b) = (
        draw::<f32>(1, rows * depth),
        draw::<f32>(2, depth * columns),
    );
    let mut want = vec![0.0; rows * columns];
    for (row, a) in want.chunks_exact_mut(columns).zip(a.chunks_exact(depth)) {
        for (&a, b) in a.iter().zip(b.chunks_exact(columns)) {
            for (sum, &b) in row.iter_mut().zip(b) {
                *sum += f64::from(a) * f64::from(b);
            }
        }
    }
    let kernel = session.pair(kernels::matmul_tiled::matmul_tiled, "matmul_tiled")?;
    let (a, b) = (session.stream.upload(&a)?, session.stream.upload(&b)?);
    problem(
        session,
        format!("{rows} x {depth} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, c| {
            let tile = TILE as u32;
            let grid = Grid::cover_2d((columns, rows), (tile, tile));
            let (a, b) = (a.matrix(rows, depth)?, b.matrix(depth, columns)?);
            let c = c.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (a, b, c));
            Ok(())
        },
        nearly(want, 1e-4),
    )
}
