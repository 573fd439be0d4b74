//! Collatz's sequences.

use super::prelude::*;
use kernels::collatz::count;

case!(collatz: "lengths of Collatz's sequences", "numbers", simulator [300, 1], gpu 1 << 22);

const FIRST: u64 = 1 << 33 | 1;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let want = (FIRST..).take(n).map(count).collect();
    let kernel = session.pair(kernels::collatz::collatz, "collatz")?;
    problem(
        session,
        format!("{n} numbers"),
        &vec![u32::MAX; n],
        move |session, side, steps| {
            launch_pair!(session, side, kernel, Grid::cover(n, 256), (FIRST, steps));
            Ok(())
        },
        exactly(want),
    )
}
