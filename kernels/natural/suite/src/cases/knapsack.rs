//! The best choice of things for a sack.

use super::prelude::*;
use kernels::knapsack::{LIMIT, THREADS};

case!(knapsack: "sacks filled with things, in shared memory", "sacks", simulator [3, 1], gpu 1 << 12);

/// Things for a sack: at least half as many.
const THINGS: u32 = 100;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let counts = below(1, n, THINGS / 2).into_iter();
    let starts = starts_of(counts.map(|count| THINGS / 2 + count));
    let count = starts[n] as usize;
    let things: Vec<[u32; 2]> = below(2, count, 200)
        .into_iter()
        .zip(below(3, count, 1000))
        .map(|(weight, value)| [weight + 1, value])
        .collect();
    let of_sack = |range: &[u32]| {
        let mut best = vec![0; LIMIT];
        for &[weight, value] in &things[range[0] as usize..range[1] as usize] {
            for at in (weight as usize..LIMIT).rev() {
                best[at] = best[at].max(best[at - weight as usize] + value);
            }
        }
        best[LIMIT - 1]
    };
    let want = starts.windows(2).map(of_sack).collect();
    let kernel = session.pair(kernels::knapsack::knapsack, "knapsack")?;
    let things = session.stream.upload(&things)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} sacks, {count} things"),
        &vec![u32::MAX; n],
        move |session, side, best| {
            let grid = Grid::new(n as u32, THREADS as u32);
            launch_pair!(session, side, kernel, grid, (&things, &starts, best));
            Ok(())
        },
        exactly(want),
    )
}
