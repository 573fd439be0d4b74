//! The ranks of keys.

use super::prelude::*;
use kernels::rank_sort::THREADS;

case!(rank_sort: "the ranks of keys by counting", "keys", simulator [600, 1], gpu 1 << 16);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // Some are equal.
    let keys: Vec<i32> = below(1, n, n as u32)
        .iter()
        .map(|&k| k as i32 - 100)
        .collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| keys[i]);
    let mut want = vec![0u32; n];
    for (rank, i) in order.into_iter().enumerate() {
        want[i] = rank as u32;
    }
    let kernel = session.pair(kernels::rank_sort::rank_sort, "rank_sort")?;
    let keys = session.stream.upload(&keys)?;
    problem(
        session,
        format!("{n} keys"),
        &vec![u32::MAX; n],
        move |session, side, ranks| {
            let grid = Grid::cover(n, THREADS as u32);
            launch_pair!(session, side, kernel, grid, (&keys, ranks));
            Ok(())
        },
        exactly(want),
    )
}
