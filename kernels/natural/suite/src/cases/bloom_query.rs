//! Keys looked for in a Bloom filter.

use super::prelude::*;
use crate::problem::draw_long;
use kernels::bloom_query::{HASHES, place};

case!(bloom_query: "keys looked for in a Bloom filter", "keys", simulator [300, 1], gpu 1 << 23);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let keys = draw_long(1, n);
    // No power of two.
    let words = n / 4 + 3;
    let mut filter = vec![0u32; words];
    for &key in keys.iter().step_by(2) {
        for number in 0..HASHES {
            let (word, bit) = place(key, number, words);
            filter[word] |= 1 << bit;
        }
    }
    let has_all = |&key: &u64| {
        let places = (0..HASHES).map(|number| place(key, number, words));
        places.fold(1, |all, (word, bit)| all & (filter[word] >> bit) as u8 & 1)
    };
    let want = keys.iter().map(has_all).collect();
    let kernel = session.pair(kernels::bloom_query::bloom_query, "bloom_query")?;
    let filter = session.stream.upload(&filter)?;
    let keys = session.stream.upload(&keys)?;
    problem(
        session,
        format!("{n} keys, {words} words"),
        &vec![u8::MAX; n],
        move |session, side, found| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&filter, &keys, found));
            Ok(())
        },
        exactly(want),
    )
}
