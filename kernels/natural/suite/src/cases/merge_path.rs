//! Sorted lists merged.

use super::prelude::*;
use kernels::merge_path::ITEMS;

case!(merge_path: "two sorted lists merged", "elements", simulator [1003, 1], gpu 1 << 23);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // The sum of steps is sorted.
    let sorted = |seed, n, limit| -> Vec<u32> {
        below(seed, n, limit)
            .into_iter()
            .scan(0, |sum, step| {
                *sum += step;
                Some(*sum)
            })
            .collect()
    };
    let a = sorted(1, n / 3, 9);
    let b = sorted(2, n - a.len(), 4);
    let mut want = [&a[..], &b[..]].concat();
    want.sort_unstable();
    let threads = n.div_ceil(ITEMS);
    want.resize(threads * ITEMS, u32::MAX);
    let check = exactly(want);
    let kernel = session.pair(kernels::merge_path::merge_path, "merge_path")?;
    let (a, b) = (session.stream.upload(&a)?, session.stream.upload(&b)?);
    problem(
        session,
        format!("{n} elements, a third in one list"),
        &vec![[0u32; ITEMS]; threads],
        move |session, side, merged| {
            let grid = Grid::cover(threads, 256);
            launch_pair!(session, side, kernel, grid, (&a, &b, merged));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
