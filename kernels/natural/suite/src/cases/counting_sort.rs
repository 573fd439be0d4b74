//! Segments of small keys, sorted.

use super::prelude::*;
use kernels::counting_sort::{SEGMENT, THREADS, VALUES};

case!(counting_sort: "segments of 2048 small keys sorted by counting", "keys", simulator [5000, 1], gpu 1 << 25);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // Small keys are more frequent.
    let keys: Vec<u32> = draw::<u32>(1, n)
        .iter()
        .map(|bits| (bits & 0xff).min(bits >> 8 & 0x1ff) % VALUES as u32)
        .collect();
    let mut want = Vec::with_capacity(n);
    for segment in keys.chunks(SEGMENT) {
        let mut counts = [0; VALUES];
        for &key in segment {
            counts[key as usize] += 1;
        }
        for (key, &count) in (0..).zip(&counts) {
            want.extend(std::iter::repeat_n(key, count));
        }
    }
    let kernel = session.pair(kernels::counting_sort::counting_sort, "counting_sort")?;
    let keys = session.stream.upload(&keys)?;
    problem(
        session,
        format!("{n} keys in segments of {SEGMENT}"),
        &vec![u32::MAX; n],
        move |session, side, sorted| {
            let grid = Grid::new(n.div_ceil(SEGMENT) as u32, THREADS as u32);
            launch_pair!(session, side, kernel, grid, (&keys, sorted));
            Ok(())
        },
        exactly(want),
    )
}
