//! Keys put into a hash table.

use super::prelude::*;
use kernels::hash_insert::EMPTY;
use warpsmith_suite::check::equal;

case!(hash_insert: "keys put into a hash table", "keys", simulator [300, 1], gpu 1 << 22);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // Some keys occur several times.
    let keys = below(1, n, 4 * n as u32);
    let in_order = |mut keys: Vec<u32>| {
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    let want = in_order(keys.clone());
    let kernel = session.pair(kernels::hash_insert::hash_insert, "hash_insert")?;
    let keys = session.stream.upload(&keys)?;
    problem(
        session,
        format!("{n} keys"),
        &vec![EMPTY; 2 * n + 1],
        move |session, side, table| {
            launch_pair!(session, side, kernel, Grid::cover(n, 256), (&keys, table));
            Ok(())
        },
        move |got| {
            let taken: Vec<u32> = got.iter().copied().filter(|&key| key != EMPTY).collect();
            let count = taken.len() as u32;
            let found = in_order(taken);
            // No key stands there twice.
            equal(&[count], &[want.len() as u32])?;
            equal(&found, &want)
        },
    )
}
