//! Running sums of blocks.

use super::prelude::*;
use kernels::block_scan::THREADS;

case!(block_scan: "running sums of 256 elements in shared memory", "elements", simulator [700, 1], gpu 1 << 25);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let x = draw::<u32>(1, n);
    let of_block = |block: &[u32]| -> Vec<u32> {
        let sums = block.iter().scan(0u32, |sum, x| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        });
        sums.collect()
    };
    let want = x.chunks(THREADS).flat_map(of_block).collect();
    let kernel = session.pair(kernels::block_scan::block_scan, "block_scan")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{n} elements"),
        &vec![0u32; n],
        move |session, side, out| {
            let grid = Grid::cover(n, THREADS as u32);
            launch_pair!(session, side, kernel, grid, (&x, out));
            Ok(())
        },
        exactly(want),
    )
}
