//! Values looked up in a sorted list.

use super::prelude::*;

case!(binary_search: "values looked up in a sorted list", "queries", simulator [300, 1], gpu 1 << 22);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut sorted = draw::<u32>(1, n / 4 + 1);
    sorted.sort_unstable();
    let queries = draw::<u32>(2, n);
    let want = queries
        .iter()
        .map(|query| sorted.partition_point(|value| value < query) as u32)
        .collect();
    let kernel = session.pair(kernels::binary_search::binary_search, "binary_search")?;
    let (sorted, queries) = (
        session.stream.upload(&sorted)?,
        session.stream.upload(&queries)?,
    );
    problem(
        session,
        format!("{n} queries of {}", sorted.len()),
        &vec![u32::MAX; n],
        move |session, side, places| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (&sorted, &queries, places)
            );
            Ok(())
        },
        exactly(want),
    )
}
