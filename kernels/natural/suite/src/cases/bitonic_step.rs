//! One step of a bitonic sort.

use super::prelude::*;

case!(bitonic_step: "a step of a sort in global memory", "runs of 1024", simulator [2, 1], gpu 1 << 15);

const SIZE: usize = 1024;
const DISTANCE: usize = 64;

fn prepare(session: &Session, runs: usize) -> Result<Box<dyn Problem>> {
    let n = runs * SIZE;
    let keys = draw::<u32>(1, n);
    let mut want = keys.clone();
    for i in (0..n).filter(|i| i & DISTANCE == 0) {
        if (want[i] > want[i + DISTANCE]) == (i & SIZE == 0) {
            want.swap(i, i + DISTANCE);
        }
    }
    let kernel = session.pair(kernels::bitonic_step::bitonic_step, "bitonic_step")?;
    problem(
        session,
        format!("{n} keys"),
        &keys,
        move |session, side, keys| {
            let grid = Grid::cover(n, 256);
            // SAFETY: the buffer has `n` keys, and distance and size are powers of two that divide `n`.
            unsafe {
                launch_pair!(unsafe session, side, kernel, grid, (keys, n, DISTANCE, SIZE));
            }
            Ok(())
        },
        exactly(want),
    )
}
