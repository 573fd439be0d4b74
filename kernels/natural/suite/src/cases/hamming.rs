//! The nearest entry in bits.

use super::prelude::*;
use crate::problem::draw_long;
use kernels::hamming::difference;

case!(hamming: "the nearest of 256 entries of 256 bits", "queries", simulator [40, 1], gpu 1 << 19);

const ENTRIES: usize = 256;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let rows =
        |seed, count: usize| -> Vec<[u64; 4]> { draw_long(seed, 4 * count).as_chunks().0.to_vec() };
    let (queries, entries) = (rows(1, n), rows(2, ENTRIES));
    let want = queries
        .iter()
        .map(|query| {
            let differences = entries.iter().map(|entry| difference(query, entry));
            let numbered = differences.zip(0u32..);
            numbered.min().map_or(u32::MAX, |(_, number)| number)
        })
        .collect();
    let kernel = session.pair(kernels::hamming::hamming, "hamming")?;
    let queries = session.stream.upload(&queries)?;
    let entries = session.stream.upload(&entries)?;
    problem(
        session,
        format!("{n} queries, {ENTRIES} entries"),
        &vec![u32::MAX; n],
        move |session, side, nearest| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&queries, &entries, nearest));
            Ok(())
        },
        exactly(want),
    )
}
