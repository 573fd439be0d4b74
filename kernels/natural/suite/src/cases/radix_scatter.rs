//! Keys moved to the places of their digits.

use super::prelude::*;
use kernels::radix_scatter::{KEYS, THREADS};
use warpsmith_suite::check::equal;

case!(radix_scatter: "keys to the places of their digits", "keys", simulator [5000, 1], gpu 1 << 25);

const SHIFT: u32 = 8;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let keys = draw::<u32>(1, n);
    let digit = |key: &u32| key >> SHIFT & 255;
    let mut starts = vec![0u32; 256];
    for key in &keys {
        for start in &mut starts[digit(key) as usize + 1..] {
            *start += 1;
        }
    }
    // Within a digit the order is open.
    let in_order = move |mut keys: Vec<u32>| {
        keys.chunk_by_mut(|a, b| digit(a) == digit(b))
            .for_each(<[u32]>::sort_unstable);
        keys
    };
    let mut want = keys.clone();
    want.sort_by_key(digit);
    let want = in_order(want);
    let kernel = session.pair(kernels::radix_scatter::radix_scatter, "radix_scatter")?;
    let keys = session.stream.upload(&keys)?;
    let first = session.stream.upload(&starts)?;
    let mut starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} keys"),
        &vec![u32::MAX; n],
        move |session, side, out| {
            session.stream.copy(&first, &mut starts)?;
            let grid = Grid::cover(n.div_ceil(KEYS), THREADS as u32);
            launch_pair!(
                session,
                side,
                kernel,
                grid,
                (&keys, SHIFT, &mut starts, out)
            );
            Ok(())
        },
        move |got| equal(&in_order(got.to_vec()), &want),
    )
}
