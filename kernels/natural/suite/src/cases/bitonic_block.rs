//! Rows sorted in shared memory.

use super::prelude::*;
use kernels::bitonic_block::KEYS;

case!(bitonic_block: "rows of 512 keys sorted in shared memory", "rows", simulator [3, 1], gpu 1 << 14);

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let keys = draw::<u32>(1, rows * KEYS);
    let mut want = keys.clone();
    want.chunks_exact_mut(KEYS).for_each(<[u32]>::sort_unstable);
    let kernel = session.pair(kernels::bitonic_block::bitonic_block, "bitonic_block")?;
    problem(
        session,
        format!("{rows} rows of {KEYS}"),
        &keys,
        move |session, side, keys| {
            let grid = Grid::new(rows as u32, 256);
            let keys = keys.matrix_mut(rows, KEYS)?;
            launch_pair!(session, side, kernel, grid, (keys,));
            Ok(())
        },
        exactly(want),
    )
}
