//! Sums of blocks.

use super::prelude::*;
use kernels::block_sum::THREADS;

case!(block_sum: "sums of 256 elements by a tree in shared memory", "elements", simulator [700, 1], gpu 1 << 26);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let x = draw::<f32>(1, n);
    let blocks = x.chunks(THREADS);
    let want: Vec<f64> = blocks
        .map(|block| block.iter().map(|&x| f64::from(x)).sum())
        .collect();
    let kernel = session.pair(kernels::block_sum::block_sum, "block_sum")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{n} elements"),
        &vec![f32::NAN; want.len()],
        move |session, side, sums| {
            let grid = Grid::cover(n, THREADS as u32);
            launch_pair!(session, side, kernel, grid, (&x, sums));
            Ok(())
        },
        nearly(want, 1e-5),
    )
}
