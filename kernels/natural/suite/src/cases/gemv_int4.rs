//! The product of a matrix of numbers of 4 bits and a vector.

use super::prelude::*;
use kernels::gemv_int4::{Block, SIZE};

case!(gemv_int4: "a matrix of 4-bit numbers by a vector, a warp a row", "rows", simulator [9, 1], gpu 1 << 14);

const COLUMNS: usize = 40 * SIZE;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let per_row = COLUMNS / SIZE;
    let scales = draw::<f32>(1, rows * per_row);
    let bytes = draw::<u8>(2, rows * COLUMNS / 2);
    let x = draw::<f32>(3, COLUMNS);
    let blocks: Vec<Block> = scales
        .iter()
        .zip(bytes.as_chunks().0)
        .map(|(&scale, &pairs)| Block { scale, pairs })
        .collect();
    let of_row = |row: &[Block]| -> f64 {
        let number = |i: usize| {
            let (block, place) = (&row[i / SIZE], i % SIZE);
            let code = block.pairs[place / 2] >> (4 * (place % 2)) & 15;
            f64::from(block.scale) * (f64::from(code) - 8.0)
        };
        (0..COLUMNS).map(|i| number(i) * f64::from(x[i])).sum()
    };
    let want = blocks.chunks_exact(per_row).map(of_row).collect();
    let kernel = session.pair(kernels::gemv_int4::gemv_int4, "gemv_int4")?;
    let blocks = session.stream.upload(&blocks)?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{rows} x {COLUMNS}"),
        &vec![f32::NAN; rows],
        move |session, side, y| {
            let grid = Grid::cover(rows * 32, 256);
            launch_pair!(session, side, kernel, grid, (&blocks, &x, y));
            Ok(())
        },
        nearly(want, 1e-4),
    )
}
