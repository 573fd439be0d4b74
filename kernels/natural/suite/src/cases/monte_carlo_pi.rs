//! Pi by random points.

use super::prelude::*;
use kernels::monte_carlo_pi::count;

case!(monte_carlo_pi: "pi by random points", "threads", simulator [40, 1], gpu 1 << 18);

const SEED: u64 = 42;
const POINTS: u32 = 500;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let want = (0..n as u64)
        .map(|i| f64::from(count(SEED, i, POINTS)))
        .collect();
    let kernel = session.pair(kernels::monte_carlo_pi::monte_carlo_pi, "monte_carlo_pi")?;
    // A point on the circle may count or not, as operations are fused.
    let check = nearly::<u32>(want, 0.01);
    problem(
        session,
        format!("{n} threads, {POINTS} points each"),
        &vec![0u32; n],
        move |session, side, hits| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (SEED, POINTS, hits));
            Ok(())
        },
        check,
    )
}
